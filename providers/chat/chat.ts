// Chat completions at OpenAI and whoever speaks its language: one call, opened at the first upstream that takes it.
import type { Upstream } from '../../domain/catalog/catalog.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { refineChatFailure } from './refinement.ts';
import { ChatTargets, type ChatTarget } from './targets.ts';
import { failureOfNetwork } from '../http/client.ts';
import { letBodyEnd, openUpstream, untilBodyBegins, type OpenAnswer } from '../http/stream.ts';
import { failureOfStatus } from '../http/status.ts';
import { UpstreamFailure } from '../provider.ts';
import type { FamilySettings } from '../settings.ts';

export interface ChatRequest {
  upstreams: readonly Upstream[];
  /** The whole body, but for `model`. */
  body: Readonly<Record<string, unknown>>;
  /** For the upstream's support. */
  requestId: string;
}

/** One upstream that was asked: 'accepted', or the class of its failure. */
export interface TriedUpstream {
  family: string;
  credential: string;
  outcome: string;
}

/** An upstream answered 200; its body is still to be read. */
export interface OpenChat extends OpenAnswer {
  tried: TriedUpstream[];
}

/** Nobody took the call. */
export class ChatFailed extends Error {
  /** Of the last one that was asked. */
  readonly failure: UpstreamFailure;
  readonly tried: readonly TriedUpstream[];

  constructor(failure: UpstreamFailure, tried: readonly TriedUpstream[]) {
    super(`no upstream took the call: ${failure.errorClass}`, { cause: failure });
    this.name = 'ChatFailed';
    this.failure = failure;
    this.tried = tried;
  }
}

/** What became of an answer that had begun. */
export function brokenAnswer(thrown: unknown, { upstreamRequestId }: OpenAnswer): UpstreamFailure {
  const { errorClass, fate, isSilence, cause } = failureOfNetwork(thrown);
  return new UpstreamFailure(errorClass, fate, { isSilence, cause, upstreamRequestId });
}

export { letBodyEnd, UpstreamFailure };

export interface ChatUpstreams {
  /** Throws ChatFailed. An abort by `signal` is one of class `transient`, fate `unknown`. */
  open(request: ChatRequest, signal: AbortSignal): Promise<OpenChat>;
}

export interface ChatSettings {
  families: Readonly<Record<string, FamilySettings>>;
  /** Longest silence of an upstream. */
  upstreamTimeoutMs: number;
}

const TRIES_MAX = 4;
/** With others left to ask, a stream has so long to begin before it is passed on as it is. */
const BEGIN_WAIT_MS = 10_000;
const STREAM_TYPE = /^text\/event-stream\b/i;

export function createChatUpstreams(
  settings: ChatSettings,
  targets: ChatTargets = new ChatTargets(settings.families),
): ChatUpstreams {
  return { open: (request, signal) => open(settings, targets, request, signal) };
}

/** The next one is asked as long as nothing was delivered, and the mistake is not the caller's. */
async function open(
  settings: ChatSettings,
  targets: ChatTargets,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<OpenChat> {
  const tried: TriedUpstream[] = [];
  let last: UpstreamFailure | null = null;
  const places = targets.order(request.upstreams).slice(0, TRIES_MAX);
  for (const [index, target] of places.entries()) {
    const place = { family: target.family, credential: target.credential.id };
    try {
      const answer = await ask(settings, target, request, signal);
      if (request.body['stream'] === true) await checkStream(answer, index < places.length - 1);
      tried.push({ ...place, outcome: 'accepted' });
      return { ...answer, tried };
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      last = error;
      tried.push({ ...place, outcome: error.errorClass });
      if (!mayAskNext(error) || signal.aborted) break;
      targets.note(target, error);
    }
  }
  throw new ChatFailed(last ?? new UpstreamFailure('auth', 'not_received'), tried);
}

async function ask(
  settings: ChatSettings,
  target: ChatTarget,
  { body, requestId }: ChatRequest,
  signal: AbortSignal,
): Promise<OpenAnswer> {
  const call = {
    url: `${target.baseUrl}/chat/completions`,
    headers: {
      authorization: `Bearer ${target.credential.key}`,
      'content-type': 'application/json',
      'x-client-request-id': requestId,
    },
    body: JSON.stringify({ ...body, model: target.upstreamModel }),
    timeoutMs: settings.upstreamTimeoutMs,
    signal,
  };
  return openUpstream(call, (answer) => failureOfStatus(answer, refineChatFailure));
}

/** Throws when this is no stream, or one that ends before it begins. Without others to ask there is no waiting for that. */
async function checkStream(answer: OpenAnswer, hasNext: boolean): Promise<void> {
  if (!STREAM_TYPE.test(answer.headers['content-type'] ?? '')) {
    answer.body.destroy();
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId: answer.upstreamRequestId });
  }
  if (hasNext) await untilBodyBegins(answer, BEGIN_WAIT_MS);
}

/**
 * A chat call has no effect but its answer, so asking twice costs the operator a prompt at the most and the caller
 * nothing. A silence, though, has used up the caller's time.
 */
function mayAskNext({ fate, errorClass, isSilence }: UpstreamFailure): boolean {
  return fate === 'not_received' || (!isSilence && FAULTS_OF_UPSTREAMS.has(errorClass));
}

/** The next one may have the model that is gone here, and an answer that can be read. */
const FAULTS_OF_UPSTREAMS = new Set<UpstreamErrorClass>(['transient', 'model_retired', 'invalid_response']);
