// Expects an error response in the common shape.
import { expect } from 'chai';
import type { Answer } from './http.ts';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
  500: 'server_error',
  502: 'upstream_error',
  503: 'server_error',
  504: 'upstream_error',
};

/** `param` is compared only if given. */
export function expectError(
  answer: Pick<Answer, 'status' | 'body'>,
  status: number,
  code: string,
  param?: string | null,
): void {
  const { error } = answer.body ?? {};
  const type = TYPES[status] ?? 'invalid_request_error';
  const wanted = { status, code, type, ...(param !== undefined && { param }) };
  const got = {
    status: answer.status,
    code: error?.code,
    type: error?.type,
    ...(param !== undefined && { param: error?.param }),
  };
  expect(got, JSON.stringify(answer.body)).to.deep.equal(wanted);
}
