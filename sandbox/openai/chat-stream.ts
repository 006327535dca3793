// Streams a reply as OpenAI does: a chunk for the role, one per token, one for the end and one for the usage.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../answers.ts';
import type { ActiveDirectives } from '../directives.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import type { Reply } from './chat-reply.ts';
import { logprobsOf } from './log-probabilities.ts';

export const SYSTEM_FINGERPRINT = 'fp_5a4db0c5e1';

export interface StreamPlan {
  readonly request: SandboxRequest;
  readonly active: ActiveDirectives;
  readonly reply: Reply;
  readonly headers: Readonly<Record<string, string>>;
  /** The error event of `error_after`, as JSON in the vendor's format. */
  readonly error: string;
}

/** What ends the stream after a number of tokens. The chunk for the role is sent with the first token. */
export interface Ending {
  readonly kind: 'complete' | 'error' | 'cut' | 'cut_within_event' | 'silence';
  readonly afterTokens: number;
}

const DELAY_MS = 5;
const LAST_EVENT = 'data: [DONE]\n\n';
const OBFUSCATION = 'x9Zq4Lw7';

/** Sends the headers at once, the first token after the directive `first`, each further one after `delay`. */
export function streamReply(plan: StreamPlan): Answer {
  const ending = endingOf(plan);
  return stream(plan.headers, events(plan, ending), ending.kind.startsWith('cut'));
}

/** A stream of nothing but its last event. */
export function emptyStream(headers: StreamPlan['headers']): Answer {
  return stream(headers, onlyLastEvent(), false);
}

export function callId({ id }: Reply, choice: number): string {
  return `call_${id.slice(-22)}${choice}`;
}

function stream(headers: StreamPlan['headers'], pieces: AsyncIterable<string>, isCut: boolean): Answer {
  const own = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { kind: 'stream', status: 200, headers: { ...headers, ...own }, pieces, isCut };
}

async function* onlyLastEvent(): AsyncGenerator<string> {
  yield LAST_EVENT;
}

/** The ending that comes first; `complete` where the stream is over before any other. */
export function endingOf({ active, reply }: StreamPlan): Ending {
  const tokens = reply.tokens * reply.choices;
  const [cut, error] = [active.number('die_after'), active.number('error_after')];
  const endings: Ending[] = [{ kind: 'complete', afterTokens: tokens }];
  if (active.choose('outcome') === 'stuck') endings.unshift({ kind: 'silence', afterTokens: tokens });
  if (error !== null) endings.unshift({ kind: 'error', afterTokens: error });
  if (cut !== null) endings.unshift({ kind: 'cut', afterTokens: cut });
  if (active.choose('submit') === 'truncated') {
    endings.unshift({ kind: 'cut_within_event', afterTokens: Math.floor(tokens / 2) });
  }
  return endings.reduce((first, next) => (next.afterTokens < first.afterTokens ? next : first));
}

async function* events(plan: StreamPlan, ending: Ending): AsyncGenerator<string> {
  const { request, active, reply } = plan;
  const delayMs = active.number('delay') ?? DELAY_MS;
  await pause(request, active.number('first') ?? 0);
  if (ending.afterTokens > 0 || ending.kind === 'complete') yield* opening(reply);
  for (let sent = 0; sent < ending.afterTokens; sent += 1) {
    if (sent > 0) await pause(request, delayMs);
    const choice = sent % reply.choices;
    yield event(reply, [deltaChoice(reply, choice, Math.floor(sent / reply.choices))]);
  }
  switch (ending.kind) {
    case 'complete':
      yield* closing(reply);
      return;
    case 'error':
      yield `data: ${plan.error}\n\n`;
      return;
    case 'cut_within_event':
      yield event(reply, [deltaChoice(reply, 0, 0)]).slice(0, 60);
      return;
    case 'silence':
      await once(request.closed, 'abort');
      return;
    case 'cut':
  }
}

function* opening(reply: Reply): Generator<string> {
  const { form } = reply.order;
  for (let index = 0; index < reply.choices; index += 1) {
    const delta =
      form.kind === 'call'
        ? {
            role: 'assistant',
            content: null,
            tool_calls: [{ index: 0, ...emptyCall(reply, index, form.name) }],
          }
        : { role: 'assistant', content: '', refusal: null };
    yield event(reply, [{ index, delta, logprobs: null, finish_reason: null }]);
  }
}

function emptyCall(reply: Reply, choice: number, name: string): object {
  return { id: callId(reply, choice), type: 'function', function: { name, arguments: '' } };
}

function deltaChoice(reply: Reply, index: number, number: number): object {
  const piece = reply.piece(index, number);
  const isCall = reply.order.form.kind === 'call';
  const delta = isCall ? { tool_calls: [{ index: 0, function: { arguments: piece } }] } : { content: piece };
  return { index, delta, logprobs: logprobsOf(reply, index, number, number + 1), finish_reason: null };
}

function* closing(reply: Reply): Generator<string> {
  for (let index = 0; index < reply.choices; index += 1) {
    yield event(reply, [{ index, delta: {}, logprobs: null, finish_reason: reply.finishReason }]);
  }
  if (reply.order.includeUsage && reply.usage !== undefined) yield event(reply, [], reply.usage);
  yield LAST_EVENT;
}

/** Where usage is requested every chunk has one, which is null but in the last chunk. */
function event(reply: Reply, choices: readonly object[], usage: Reply['usage'] | null = null): string {
  const { id, created, order } = reply;
  const chunk = {
    id,
    object: 'chat.completion.chunk',
    created,
    model: order.model,
    service_tier: order.serviceTier,
    system_fingerprint: SYSTEM_FINGERPRINT,
    choices,
    ...(order.includeUsage && { usage }),
    ...(order.includeObfuscation && { obfuscation: OBFUSCATION }),
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** Throws where the client disconnects meanwhile. */
async function pause(request: SandboxRequest, ms: number): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: request.closed });
}
