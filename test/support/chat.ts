// Chat calls through the gateway: sending messages, reading streams, and reading the records.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { TestGateway, TestUser } from './servers/gateway.ts';
import type { Answer } from './http/http.ts';

export const CHAT_MODEL = 'gpt-6-luna';
/** Credits per token: 0.10 USD and 0.50 USD per million tokens. */
export const INPUT_PRICE = 20 / 1_000_000;
export const OUTPUT_PRICE = 100 / 1_000_000;

const CHAT = '/v1/chat/completions';

/** One message; `word` finds its call in the sandbox's journal. */
export function say(directive = '', word = ''): { role: 'user'; content: string }[] {
  const sandbox = directive === '' ? '' : ` [[sandbox ${directive}]]`;
  return [{ role: 'user', content: `Say something. ${word}${sandbox}` }];
}

export function ask(user: TestUser, directive = '', fields: object = {}): Promise<Answer> {
  return user.key.post(CHAT, { model: CHAT_MODEL, messages: say(directive), ...fields });
}

/** Starts a streamed call as any HTTP client does. */
export function openStream(
  baseUrl: string,
  user: TestUser,
  params: { directive?: string; word?: string; fields?: object; headers?: Record<string, string> } = {},
  signal?: AbortSignal,
): Promise<Response> {
  const messages = say(params.directive, params.word);
  return fetch(`${baseUrl}${CHAT}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${user.apiKey}`,
      'content-type': 'application/json',
      ...params.headers,
    },
    body: JSON.stringify({ model: CHAT_MODEL, messages, stream: true, ...params.fields }),
    ...(signal && { signal }),
  });
}

/** The data of all events of a stream. */
export function eventsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
}

/** Reads a stream until `isEnough` says so of the text so far. */
export async function readUntil(response: Response, isEnough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  if (!response.body) throw new Error('there is no body');
  const reader = response.body.getReader();
  while (!isEnough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text;
}

/** The newest record of a user's calls, as the user reads it. */
export async function lastCall(user: TestUser): Promise<Answer['body']> {
  return (await user.session.get('/api/usage?limit=1')).body.data[0] ?? null;
}

export async function readBalance(user: TestUser): Promise<{ balance: number; reserved: number }> {
  return (await user.session.get('/api/balance')).body.data;
}

export interface CallRow {
  status: string;
  tried: { family: string; credential: string; outcome: string }[];
  /** Micro-credits. */
  reserved: string;
  charged: string;
  loss: string;
  basis: string;
  promptTokens: number | null;
  completionTokens: number | null;
}

/** All records of a user's calls, oldest first, with what the user does not read. */
export async function readCalls(gateway: TestGateway, user: TestUser): Promise<CallRow[]> {
  return gateway.em().execute<CallRow[]>(sql`
    select status, tried, credits_reserved as reserved, credits_charged as charged, billing_basis as basis,
           prompt_tokens as "promptTokens", completion_tokens as "completionTokens"
           , loss
    from chat_call where user_id = ${user.id} order by id`);
}

/** Whether nothing of the user's credits is reserved any more. */
export async function isSettled(user: TestUser): Promise<boolean> {
  return (await readBalance(user)).reserved === 0;
}

/** Expects the charge to be the listed price of these tokens. */
export function expectPrice(charged: number, promptTokens: number, completionTokens: number): void {
  expect(charged).to.be.closeTo(promptTokens * INPUT_PRICE + completionTokens * OUTPUT_PRICE, 0.000_001);
}
