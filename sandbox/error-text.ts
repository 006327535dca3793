// Texts of errors; on request with the internal details that careless vendors let slip into theirs.

import type { Choice } from './directives.ts';

/** Parts of an error text with `text=leaky`; the gateway must never show one of these to a caller. */
export const SENSITIVE_PARTS = {
  url: 'https://render-internal.vendor-backend.example/v2/jobs/83121?signature=9f86d081884c7d65',
  address: '10.42.17.203',
  host: 'gpu-node-07.eu-west.vendor-backend.example',
  email: 'oncall@vendor-backend.example',
  file: '/srv/render/pipelines/sampler.py',
  bearer: 'Bearer sk-live-4f9a1c7e2b8d6035',
  dataUri: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB',
  stackLine: 'at RenderPool.acquire (/srv/render/pool.js:214:17)',
} as const;

export function errorText(message: string, text: Choice<'text'>): string {
  if (text === 'plain') return message;
  const { url, address, host, email, file, bearer, dataUri, stackLine } = SENSITIVE_PARTS;
  return (
    `${message} Upstream ${url} on ${host} (${address}) refused "Authorization: ${bearer}" ` +
    `while reading ${dataUri} in ${file}; tell ${email}.\n    ${stackLine}`
  );
}
