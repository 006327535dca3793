// GET /openapi.json: made when somebody first asks for it, the same bytes from then on.
import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { describeApi } from './document.ts';
import type { DescribedRoute } from './refusals.ts';

export const DOCUMENT_ROUTE = '/openapi.json';

const MAX_AGE_SECONDS = 300;

export function sendDocument(routes: readonly DescribedRoute[]): RequestHandler {
  let made: { bytes: Buffer; tag: string } | undefined;
  return (req, res) => {
    made ??= makeDocument(routes);
    res.setHeader('etag', made.tag);
    res.setHeader('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
    if (req.fresh) {
      res.status(304).end();
      return;
    }
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.setHeader('content-length', made.bytes.byteLength);
    res.end(req.method === 'HEAD' ? undefined : made.bytes);
  };
}

function makeDocument(routes: readonly DescribedRoute[]): { bytes: Buffer; tag: string } {
  const bytes = Buffer.from(JSON.stringify(describeApi(routes)));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, tag: `"${hash}"` };
}
