// What the tests of OpenAI's images share: an item of an answer, and answers made of items.
import type { Vendor } from '../describe-vendor.ts';
import { PNG, sendJson } from '../stand-in.ts';

export const ITEM = { b64_json: PNG.toString('base64') };

/** Lets the stand-in answer all next requests with these items. */
export function deliver(vendor: Vendor, ...data: unknown[]): void {
  vendor.play = (res) =>
    sendJson(res, 200, { created: 1, data, usage: { total_tokens: 1 } }, { 'x-request-id': 'req_1' });
}
