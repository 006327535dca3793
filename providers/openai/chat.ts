// Adapter for text tasks on OpenAI's chat completions: one call that answers with the finished text.
import { storableText } from '../../domain/storable-text.ts';
import { refineChatFailure } from '../chat/refinement.ts';
import { countPromptTokens, countTokens } from '../chat/tokens.ts';
import { billableTextOf, outputTextOf, readChatUsage } from '../chat/usage.ts';
import { createJsonApi, type JsonApi } from '../http/json-api.ts';
import { failureOfStatus } from '../http/status.ts';
import { UpstreamFailure, type Provider, type Submission, type UpstreamJob } from '../provider.ts';
import { listOf, membersOf, textOf } from '../http/json-fields.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'openai-chat';
export const FAMILY = 'openai';

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const REFUSED_FINISH = 'content_filter';

export function createOpenaiChat(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'immediate',
    credentialsFor: everyCredential(settings),
    submit: (job, signal) => submit(api, job, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, job: UpstreamJob, signal?: AbortSignal): Promise<Submission> {
  const request = {
    model: job.upstreamModel,
    messages: [...job.messages],
    max_completion_tokens: job.order.outputTokens,
  };
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: '/chat/completions',
    credential: job.credential,
    json: request,
    bytesMax: ANSWER_BYTES_MAX,
    signal,
    toFailure: (response) => failureOfStatus(response, refineChatFailure),
  });
  const text = outputTextOf(json);
  if (text === '') throw failureWithoutText(json, upstreamRequestId);
  return {
    kind: 'finished',
    results: [{ kind: 'text', text: storableText(text) }],
    evidence: await readEvidence(json, request),
    upstreamRequestId,
  };
}

async function readEvidence(json: unknown, request: Readonly<Record<string, unknown>>) {
  const usage = readChatUsage(membersOf(json)['usage']);
  if (usage) return { ...usage };
  return {
    promptTokens: await countPromptTokens(request),
    completionTokens: await countTokens(billableTextOf(json)),
  };
}

function failureWithoutText(json: unknown, upstreamRequestId: string | null): UpstreamFailure {
  const [choice] = listOf(membersOf(json)['choices']);
  const isRefused = textOf(membersOf(choice)['finish_reason']) === REFUSED_FINISH;
  return new UpstreamFailure(isRefused ? 'moderation' : 'invalid_response', 'refused', { upstreamRequestId });
}
