// Chat completions over OpenAI's API: sends one request to the first upstream that accepts it.
import type { Upstream } from '../../domain/catalog/upstream.ts';
import type { TriedUpstream } from '../../domain/chat-calls.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { refineChatFailure } from './refinement.ts';
import { markUser } from './user-marks.ts';
import { ChatTargets, type ChatTarget } from './targets.ts';
import { failureOfNetwork } from '../http/client.ts';
import { authorizeByBearer } from '../http/json-api.ts';
import { drainBody, openStream, waitForFirstBytes, type StreamingResponse } from '../http/stream.ts';
import { failureOfStatus } from '../http/status.ts';
import { StreamPool } from '../http/stream-pool.ts';
import { UpstreamFailure } from '../provider.ts';
import type { FamilySettings } from '../settings.ts';

export interface ChatRequest {
  upstreams: readonly Upstream[];
  /** The whole body except `model`, which differs per upstream. */
  body: Readonly<Record<string, unknown>>;
  /** The same call for upstreams that speak Responses; null: all are asked by chat completions. */
  responses?: ResponsesRequest | null;
  /** The user who calls, whose share of the connections is used. */
  userId: string;
  /** Sent as `x-client-request-id`, by which the vendor's support finds the call. */
  requestId: string;
}

/** A call in the words of OpenAI's Responses API. */
export interface ResponsesRequest {
  /** The body except `model` and the limit of the answer, which is that of the chat body. */
  body: Readonly<Record<string, unknown>>;
  /** The field that chat completions have no word for; null when they can say it all. */
  untranslatable: string | null;
}

/** A 2xx answer whose body has not been read yet. */
export interface UpstreamAnswer extends StreamingResponse {
  /** Every upstream that was asked, the accepting one last. */
  tried: TriedUpstream[];
  /** The API that was asked, which is the form of the answer. */
  api: 'chat' | 'responses';
}

/** No upstream accepted the call. */
export class ChatFailed extends Error {
  /** Failure of the upstream that was asked last. */
  readonly failure: UpstreamFailure;
  readonly tried: readonly TriedUpstream[];

  constructor(failure: UpstreamFailure, tried: readonly TriedUpstream[]) {
    super(`no upstream took the call: ${failure.errorClass}`, { cause: failure });
    this.name = 'ChatFailed';
    this.failure = failure;
    this.tried = tried;
  }
}

/** The failure of an answer whose body broke off while it was read. */
export function toUpstreamFailure(
  thrown: unknown,
  { upstreamRequestId }: StreamingResponse,
): UpstreamFailure {
  const { errorClass, fate, isSilence, cause } = failureOfNetwork(thrown);
  return new UpstreamFailure(errorClass, fate, { isSilence, cause, upstreamRequestId });
}

export { drainBody, UpstreamFailure };

export interface ChatUpstreams {
  /**
   * Throws ChatFailed, and `overloaded` when the user's share of the connections stays used up. An abort by
   * `signal` has the class `transient` and the fate `unknown`.
   */
  openUpstream(request: ChatRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** Returns how many connections are in use, and how many calls wait for one. */
  connectionLoad(): { taken: number; waiting: number };
}

export interface ChatSettings {
  families: Readonly<Record<string, FamilySettings>>;
  /** Longest silence of an upstream before it counts as failed. */
  upstreamTimeoutMs: number;
  /** Connections of this process to each upstream. */
  upstreamConnectionsMax: number;
}

/** What a call is sent through. */
interface Sender {
  pool: StreamPool;
  timeoutMs: number;
}

const TRIES_MAX = 4;
/** How long a stream may take to send its first bytes while other upstreams are left to ask. */
const FIRST_BYTES_WAIT_MS = 10_000;
/**
 * Failures of one upstream that another may not have: it may offer the retired model, or a readable answer.
 */
const FAULTS_OF_UPSTREAMS = new Set<UpstreamErrorClass>(['transient', 'model_retired', 'invalid_response']);
const STREAM_TYPE = /^text\/event-stream\b/i;

export function createChatUpstreams(
  settings: ChatSettings,
  targets: ChatTargets = new ChatTargets(settings.families),
): ChatUpstreams {
  const pool = new StreamPool(settings.upstreamConnectionsMax);
  const sender: Sender = { pool, timeoutMs: settings.upstreamTimeoutMs };
  return {
    openUpstream: (request, signal) => openUpstream(sender, targets, request, signal),
    connectionLoad: () => pool.load,
  };
}

/** Asks one upstream after another as long as nothing was delivered and the mistake is not the caller's. */
async function openUpstream(
  sender: Sender,
  targets: ChatTargets,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const tried: TriedUpstream[] = [];
  let last: UpstreamFailure | null = null;
  const candidates = targets.rank(request.upstreams.filter(canAnswer(request))).slice(0, TRIES_MAX);
  for (const [index, target] of candidates.entries()) {
    const account = { family: target.family, credential: target.credential.id };
    try {
      const answer = await sendChat(sender, target, request, signal);
      if (request.body['stream'] === true) await checkStream(answer, index < candidates.length - 1);
      tried.push({ ...account, outcome: 'accepted' });
      return { ...answer, tried, api: apiOf(target, request) };
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      last = error;
      tried.push({ ...account, outcome: error.errorClass });
      if (!mayAskNext(error) || signal.aborted) break;
      targets.recordFailure(target, error);
    }
  }
  throw new ChatFailed(last ?? new UpstreamFailure('auth', 'not_received'), tried);
}

/** Whether an upstream can be asked at all: one that knows chat completions alone must lose nothing. */
function canAnswer({ responses }: ChatRequest): (upstream: Upstream) => boolean {
  return (upstream) => upstream.responses || !responses || responses.untranslatable === null;
}

function apiOf(target: ChatTarget, { responses }: ChatRequest): UpstreamAnswer['api'] {
  return responses && target.responses ? 'responses' : 'chat';
}

function sendChat(
  { pool, timeoutMs }: Sender,
  target: ChatTarget,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<StreamingResponse> {
  const { userId, requestId } = request;
  const { path, body } = messageTo(target, request);
  const call = {
    url: `${target.baseUrl}${path}`,
    headers: {
      ...authHeaders(target),
      'content-type': 'application/json',
      'x-client-request-id': requestId,
    },
    body: JSON.stringify({ ...markUser(body, target.family, userId), model: target.upstreamModel }),
    timeoutMs,
    userId,
    signal,
  };
  return openStream(pool, call, (response) => failureOfStatus(response, refineChatFailure));
}

/** The call in the words of the API that the target speaks. */
function messageTo(target: ChatTarget, request: ChatRequest) {
  const { body, responses } = request;
  if (!responses || apiOf(target, request) === 'chat')
    return { path: '/chat/completions', body: withLimitField(body, target.limitField) };
  const { max_completion_tokens: limit = null } = body;
  const limited = limit === null ? {} : { max_output_tokens: limit };
  return { path: '/responses', body: { ...responses.body, ...limited } };
}

function authHeaders({ auth, credential }: ChatTarget): Readonly<Record<string, string>> {
  if (auth === 'none') return {};
  if (auth === 'bearer') return authorizeByBearer(credential);
  return { [auth.header.toLowerCase()]: credential.key };
}

/** The body with the limit of an answer under the one name that this upstream knows. */
function withLimitField(
  body: Readonly<Record<string, unknown>>,
  field: ChatTarget['limitField'],
): Readonly<Record<string, unknown>> {
  const { max_tokens: older, max_completion_tokens: newer, ...rest } = body;
  const limit = newer ?? older;
  return limit === undefined || limit === null ? rest : { ...rest, [field]: limit };
}

/**
 * Throws when the answer is no stream, or a stream that ends before its first byte. The first bytes are
 * awaited only while another upstream is left to ask.
 */
async function checkStream(answer: StreamingResponse, hasNext: boolean): Promise<void> {
  if (!STREAM_TYPE.test(answer.headers['content-type'] ?? '')) {
    answer.body.destroy();
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId: answer.upstreamRequestId });
  }
  if (hasNext) await waitForFirstBytes(answer, FIRST_BYTES_WAIT_MS);
}

/**
 * Whether another upstream may be asked. A chat call has no effect but its answer, so asking twice costs the
 * operator a prompt at the most and the caller nothing. After a silence the caller's time is used up.
 */
function mayAskNext({ fate, errorClass, isSilence }: UpstreamFailure): boolean {
  return fate === 'not_received' || (!isSilence && FAULTS_OF_UPSTREAMS.has(errorClass));
}
