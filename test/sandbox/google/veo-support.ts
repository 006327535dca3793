// What the tests of the sandbox's Veo share: requests in Google's form.

import type { Sandbox } from '../../../sandbox/server.ts';
import { ask, type HttpAnswer, type Json, newPrompt, useSandbox } from '../support.ts';

export const MODEL = 'veo-3.1-generate-preview';
export const IMAGE = { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' };
/** Headers that prove a request at Vertex. */
export const VERTEX_HEADERS = { authorization: 'Bearer ya29.test' };

export interface Veo {
  sandbox(): Sandbox;
  /** Sends a POST where there is a body, and a GET otherwise; without `headers`, with an API key. */
  send(path: string, options?: { body?: Json; headers?: Record<string, string> }): Promise<HttpAnswer>;
}

/** Starts a sandbox before the tests of the surrounding block and closes it after them. */
export function useVeo(): Veo {
  const sandbox = useSandbox();
  return {
    sandbox,
    send: async (path, { body, headers = { 'x-goog-api-key': 'AIza-test' } } = {}) =>
      ask(path.startsWith('http') ? path : sandbox().url + path, {
        method: body === undefined ? 'GET' : 'POST',
        key: null,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
  };
}

export function veoOrder(directives: string, parameters: Json = {}, instance: Json = {}): Json {
  return { instances: [{ prompt: newPrompt(directives).prompt, ...instance }], parameters };
}
