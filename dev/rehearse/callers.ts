// Sends requests through the proxy as an outside caller does, and notes which routes were asked.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';
import { ROUTES } from '../../api/app.ts';
import { expectDocumented } from '../documented.ts';

export interface CallOptions {
  body?: object | FormData;
  headers?: Record<string, string>;
}

export interface CallAnswer {
  status: number;
  headers: Response['headers'];
  body: any; // oxlint-disable-line typescript/no-explicit-any -- the JSON of any route
}

/** Throws unless the answer is below 400 and one that the API's description promises. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<CallAnswer>;

export interface Callers {
  anonymous: Call;
  withKey: (apiKey: string) => Call;
  /** Logs in and keeps the cookie. */
  logIn: (email: string, password: string) => Promise<Call>;
  withCookie: (cookie: string) => Call;
  openai: (apiKey: string) => OpenAI;
  /** The raw way, without any judgement of the answer. */
  raw: (path: string, init?: RequestInit) => Promise<Response>;
  /** Routes that were answered, as `GET /v1/models/:id`. */
  asked: ReadonlySet<string>;
}

const REQUEST_TIMEOUT_MS = 60_000;
const ATTEMPTS_MAX = 6;
const RETRY_MS = 1_000;
const RETRY_AFTER_SECONDS_MAX = 10;

/** All routes of the API, in the form of `Callers.asked`. */
export const ALL_ROUTES: readonly string[] = ROUTES.map(({ method, path }) => `${method} ${path}`);

/** `certificate` is the file of the authority that signed the proxy's certificate. */
export function openCallers(baseUrl: string, certificate: string): Callers {
  // Node's own fetch, which OpenAI's client uses too, takes this dispatcher.
  const ca = [...rootCertificates, readFileSync(certificate, 'utf8')];
  setGlobalDispatcher(new Agent({ connect: { ca } }));
  const asked = new Set<string>();
  const raw = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(path.startsWith('https:') ? path : `${baseUrl}${path}`, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...init,
    });
  const as =
    (proof: Record<string, string>): Call =>
    async (method, path, { body, headers = {} } = {}) => {
      const isForm = body instanceof FormData;
      const type = body === undefined || isForm ? {} : { 'content-type': 'application/json' };
      const once = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
      const request = {
        method,
        headers: { ...proof, ...type, ...once, ...headers },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      };
      let response = await raw(path, request);
      for (let attempt = 1; attempt < ATTEMPTS_MAX && comesAgain(response); attempt += 1) {
        await sleep(RETRY_MS);
        response = await raw(path, request);
      }
      const answer = await readAnswer(method, path, response);
      note(asked, method, path);
      return answer;
    };
  const anonymous = as({});
  const withCookie = (cookie: string): Call => {
    const proof = { cookie, origin: baseUrl };
    const call = as(proof);
    return async (...request) => {
      const answer = await call(...request);
      // A step-up gives the session another token.
      if (answer.headers.getSetCookie().length > 0) proof.cookie = cookieOf(answer.headers);
      return answer;
    };
  };
  return {
    anonymous,
    withKey: (apiKey) => as({ authorization: `Bearer ${apiKey}` }),
    withCookie,
    logIn: async (email, password) => {
      const { headers } = await anonymous('POST', '/api/auth/login', { body: { email, password } });
      return withCookie(cookieOf(headers));
    },
    openai: (apiKey) => openClient(`${baseUrl}/v1`, apiKey, asked),
    raw,
    asked,
  };
}

/** Throws unless the answer is below 400 and one that the API's description promises. */
async function readAnswer(method: string, path: string, response: Response): Promise<CallAnswer> {
  const { status, headers } = response;
  const isJson = headers.get('content-type')?.includes('json') ?? false;
  const body: unknown = isJson ? await response.json() : null;
  if (status >= 400) throw new Error(`${method} ${path} answers ${status} ${JSON.stringify(body)}`);
  if (isJson) expectDocumented(method, path, { status, headers, body });
  return { status, headers, body };
}

/** OpenAI's own client, which notes the routes that it was answered by. */
function openClient(baseURL: string, apiKey: string, asked: Set<string>): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL,
    maxRetries: ATTEMPTS_MAX,
    fetch: async (target, init) => {
      const request = new Request(target, init);
      const response = await fetch(request);
      if (response.ok) note(asked, request.method, new URL(request.url).pathname);
      return response;
    },
  });
}

/** Whether an answer tells its caller to come again soon: 503 of a busy machine, or 429 of a slow Redis. */
function comesAgain({ status, headers }: Response): boolean {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return (status === 503 || status === 429) && seconds <= RETRY_AFTER_SECONDS_MAX;
}

/** The session's cookie of a login, which a browser sends back over https only. */
export function cookieOf(headers: Response['headers']): string {
  const cookie = headers.getSetCookie().find((one) => one.startsWith('svc_session='));
  if (cookie === undefined || !/;\s*secure/i.test(cookie)) throw new Error('a login sets no secure cookie');
  return cookie.split(';')[0] ?? '';
}

/** Notes the route of a path; literal segments win over parameters. */
function note(asked: Set<string>, method: string, path: string): void {
  const [bare = ''] = path.split('?');
  const found = ROUTES.filter(
    (route) => route.method === method && new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`).test(bare),
  );
  const best = found.toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)[0];
  if (best !== undefined) asked.add(`${best.method} ${best.path}`);
}
