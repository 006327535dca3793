// Adapter for text tasks: one call of chat completions that answers with the finished text, sent to the same
// upstreams as chat calls.
import { buffer } from 'node:stream/consumers';
import { storableText } from '../../domain/storable-text.ts';
import {
  ChatFailed,
  createChatUpstreams,
  toUpstreamFailure,
  type ChatUpstreams,
  type UpstreamAnswer,
} from '../chat/chat.ts';
import { refineChatFailure } from '../chat/refinement.ts';
import { countPromptTokens, countTokens } from '../chat/tokens.ts';
import { billableTextOf, outputTextOf, readChatUsage } from '../chat/usage.ts';
import { UpstreamFailure, type Provider, type Submission, type UpstreamJob } from '../provider.ts';
import { listOf, membersOf, readVendorError, textOf } from '../http/json-fields.ts';
import type { FamilySettings } from '../settings.ts';

export const NAME = 'openai-chat';

export interface OpenaiChatSettings {
  families: Readonly<Record<string, FamilySettings>>;
  upstreamTimeoutMs: number;
}

/** No family of the catalogue: a text task may go to the upstreams of any. */
const FAMILY = 'text';
/** Stands in submissions for the credential, which the ranking of the upstreams chooses. */
const CREDENTIAL = 'ranked';
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** As many as hand-overs may be under way in one process. */
const CONNECTIONS_MAX = 1_000;
const REFUSED_FINISH = 'content_filter';

export function createOpenaiChat({ families, upstreamTimeoutMs }: OpenaiChatSettings): Provider {
  const upstreams = createChatUpstreams({
    families,
    upstreamTimeoutMs,
    upstreamConnectionsMax: CONNECTIONS_MAX,
  });
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'immediate',
    credentialsFor: () => [CREDENTIAL],
    submit: (job, signal) => submit(upstreams, job, signal),
    trustsOrigin: () => false,
  };
}

async function submit(
  upstreams: ChatUpstreams,
  job: UpstreamJob,
  signal: AbortSignal = new AbortController().signal,
): Promise<Submission> {
  const { outputTokens, answerLimitedBy } = job.order;
  const limit = answerLimitedBy === 'model' ? {} : { max_completion_tokens: outputTokens };
  const body = { messages: [...job.messages], ...limit };
  const request = { upstreams: job.upstreams, body, userId: job.userId, requestId: job.reference };
  const answer = await upstreams.openUpstream(request, signal).catch((error: unknown) => {
    throw error instanceof ChatFailed ? error.failure : error;
  });
  const { upstreamRequestId } = answer;
  const json = await readJson(answer);
  const text = outputTextOf(json);
  if (text === '') throw failureWithoutText(json, upstreamRequestId);
  return {
    kind: 'finished',
    results: [{ kind: 'text', text: storableText(text) }],
    evidence: await readEvidence(json, body),
    upstreamRequestId,
  };
}

async function readJson(answer: UpstreamAnswer): Promise<unknown> {
  const { upstreamRequestId } = answer;
  let bytes = 0;
  answer.body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) answer.body.destroy();
  });
  const body = await buffer(answer.body).catch((error: unknown) => {
    throw bytes > ANSWER_BYTES_MAX
      ? new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId })
      : toUpstreamFailure(error, answer);
  });
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // The parser's message quotes the body, so it is not kept as a cause.
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  }
}

async function readEvidence(json: unknown, request: Readonly<Record<string, unknown>>) {
  const usage = readChatUsage(membersOf(json)['usage']);
  if (usage) return { ...usage };
  return {
    promptTokens: await countPromptTokens(request),
    completionTokens: await countTokens(billableTextOf(json)),
  };
}

/** Some services report errors with status 200. The answer is complete, so no work is left at the vendor. */
function failureWithoutText(json: unknown, upstreamRequestId: string | null): UpstreamFailure {
  const { choices, error = null } = membersOf(json);
  const reported = error === null ? null : readVendorError(json);
  const isFiltered = textOf(membersOf(listOf(choices)[0])['finish_reason']) === REFUSED_FINISH;
  const verdict = reported ? refineChatFailure(reported, 200) : undefined;
  const usual = isFiltered ? 'moderation' : 'invalid_response';
  return new UpstreamFailure(verdict?.errorClass ?? usual, verdict?.fate ?? 'refused', {
    text: reported?.message ?? null,
    upstreamRequestId,
  });
}
