// Expected answers of OpenAI's APIs to the directive `submit` with a status.

import { expect } from 'chai';
import { at, type HttpAnswer } from '../support.ts';

/** Value of `submit`, then what `readOpenaiRefusal` returns: the status and the header Retry-After. */
export const OPENAI_REFUSALS = [
  ['400', 400, null],
  ['401', 401, null],
  ['402', 402, null],
  ['403', 403, null],
  ['429', 429, '1'],
  ['500', 500, null],
  ['503', 503, '1'],
] as const;

export function readOpenaiRefusal({ status, headers, body }: HttpAnswer): unknown[] {
  expect(at(body, 'error')).to.have.all.keys('message', 'type', 'param', 'code');
  return [status, headers.get('retry-after')];
}
