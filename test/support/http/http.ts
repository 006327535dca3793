// A caller of the gateway: adds its identity to each request and checks what every response must have.
import { expect } from 'chai';
import { expectDocumented } from '../../../dev/documented.ts';
import { expectLimitHeaders } from './limits.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON body; null when there is none. */
  body: any; // oxlint-disable-line typescript/no-explicit-any -- tests look at answers as a caller's script would
}

export interface SendInit {
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** Skips comparing the response with the OpenAPI document; the test itself says what is right. */
  undocumented?: true;
}

export interface Actor {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends any method and any body, unchanged. */
  send(method: string, path: string, init?: SendInit): Promise<Answer>;
}

export function createActor(baseUrl: () => string, identity: () => Record<string, string>): Actor {
  async function send(method: string, path: string, init: SendInit = {}): Promise<Answer> {
    const headers = { ...identity(), ...init.headers };
    const request = {
      method,
      headers,
      ...(init.body === undefined ? {} : { body: new Uint8Array(Buffer.from(init.body)) }),
    };
    const response = await fetch(`${baseUrl()}${path}`, request);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text ? JSON.parse(text) : null,
    };
    checkCommon(method, path, answer);
    if (!init.undocumented) expectDocumented(method, path, answer);
    return answer;
  }
  const json =
    (method: string) =>
    (path: string, body?: unknown, headers: Record<string, string> = {}) => {
      if (body === undefined) return send(method, path, { headers });
      return send(method, path, {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      });
    };
  return {
    get: (path, headers) => send('GET', path, headers ? { headers } : {}),
    delete: (path, headers) => send('DELETE', path, headers ? { headers } : {}),
    post: json('POST'),
    patch: json('PATCH'),
    send,
  };
}

/** Checks what every response of the gateway must have. */
function checkCommon(method: string, path: string, answer: Answer): void {
  const place = `${method} ${path} → ${answer.status}`;
  expect(answer.headers.get('x-request-id'), place).to.match(/^[A-Za-z0-9._-]{1,64}$/);
  expect(answer.headers.get('x-content-type-options'), place).to.equal('nosniff');
  expect(answer.headers.get('x-powered-by'), place).to.equal(null);
  if (answer.status === 429) expectLimitHeaders(answer);
  if (answer.status < 400) return;
  expect(answer.body?.error, place).to.include.keys('message', 'type', 'param', 'code', 'request_id');
  expect(answer.body.error.request_id, place).to.equal(answer.headers.get('x-request-id'));
}
