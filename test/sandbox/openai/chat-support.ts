// Shared by the tests of the sandbox's chat: sends chat requests and reads streams event by event.

import type { Sandbox } from '../../../sandbox/server.ts';
import { ask, type HttpAnswer, type Json, newPrompt } from '../support.ts';

export const CHAT_PATH = '/openai/v1/chat/completions';

export interface Streamed {
  readonly status: number;
  readonly type: string | null;
  /** Text of each event after `data: `, in order; the last one may be incomplete. */
  readonly events: readonly string[];
  /** The events that are JSON objects. */
  readonly chunks: readonly Json[];
  readonly isBroken: boolean;
  /** Time from the request to the first piece of the body. */
  readonly firstMs: number;
}

export function chatBody(directives: string, fields: Json = {}): Json {
  return {
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: newPrompt(directives).prompt }],
    ...fields,
  };
}

/** The field `messages` with one message of the user. */
export function userMessage(content: unknown): Json {
  return { messages: [{ role: 'user', content }] };
}

export function chat(
  sandbox: Sandbox,
  directives: string,
  fields: Json = {},
  path = CHAT_PATH,
): Promise<HttpAnswer> {
  return ask(`${sandbox.url}${path}`, { method: 'POST', body: chatBody(directives, fields) });
}

/** Streams a chat and reads it to its end, or to where it breaks. */
export async function streamChat(
  sandbox: Sandbox,
  directives: string,
  fields: Json = {},
  path = CHAT_PATH,
): Promise<Streamed> {
  const startedAt = performance.now();
  const response = await fetch(`${sandbox.url}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(chatBody(directives, { stream: true, ...fields })),
  });
  const decoder = new TextDecoder();
  let text = '';
  let firstMs = Number.NaN;
  let isBroken = false;
  try {
    for await (const piece of response.body ?? []) {
      if (text === '') firstMs = performance.now() - startedAt;
      text += decoder.decode(piece, { stream: true });
    }
  } catch {
    isBroken = true;
  }
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
  const { status, headers } = response;
  return { status, type: headers.get('content-type'), events, chunks: chunksIn(events), isBroken, firstMs };
}

function chunksIn(events: readonly string[]): Json[] {
  return events.flatMap((event) => {
    try {
      const value: unknown = JSON.parse(event);
      return typeof value === 'object' && value !== null ? [{ ...value }] : [];
    } catch {
      return [];
    }
  });
}
