// MiniMax's first video API: refusals come with HTTP 200 and a code, and the file takes a second request.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import { acceptedJob } from '../accepted-job.ts';
import type { JsonApi, JsonObject, JsonResponse } from '../http/json-api.ts';
import { failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import { UpstreamFailure, type JobState, type Submission, type UpstreamJob } from '../provider.ts';
import type { HailuoVariant } from './variant.ts';
import { membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';

export const hailuoV1: HailuoVariant = { name: 'v1', submit, poll };

/** `base_resp.status_code` of refusals, and of failed jobs. */
const VERDICTS: Readonly<Record<number, Verdict>> = {
  1000: { errorClass: 'transient', fate: 'unknown' },
  1001: { errorClass: 'transient', fate: 'unknown' },
  1002: { errorClass: 'rate', fate: 'not_received' },
  1004: { errorClass: 'auth', fate: 'not_received' },
  1008: { errorClass: 'quota', fate: 'not_received' },
  1013: { errorClass: 'transient', fate: 'unknown' },
  1026: { errorClass: 'moderation', fate: 'refused' },
  1027: { errorClass: 'moderation', fate: 'refused' },
  1028: { errorClass: 'quota', fate: 'not_received' },
  1030: { errorClass: 'quota', fate: 'not_received' },
  2013: { errorClass: 'invalid', fate: 'refused' },
  2049: { errorClass: 'auth', fate: 'not_received' },
  2061: { errorClass: 'quota', fate: 'not_received' },
};

/** Messages of failed jobs, which mostly come without a code. */
const CLASS_OF_MESSAGE: Patterns<UpstreamErrorClass> = [
  [/sensitive|moderation|policy|violat/, 'moderation'],
  [/balance|insufficient|quota/, 'quota'],
  [/concurren|too many|rate limit/, 'concurrency'],
  [/invalid|param|unsupported|decode/, 'invalid'],
];

const UNREADABLE: JobState = { kind: 'failed', errorClass: 'invalid_response', text: null };

async function submit(api: JsonApi, job: UpstreamJob): Promise<Submission> {
  const response = await api.send({
    method: 'POST',
    path: '/v1/video_generation',
    credential: job.credential,
    json: requestBody(job),
    toFailure: submitFailure,
  });
  const body = membersOf(response.json);
  const { upstreamRequestId } = response;
  const refusal = refusalIn(body, upstreamRequestId);
  if (refusal) throw refusal;
  return acceptedJob(job, body['task_id'], upstreamRequestId, { dialect: hailuoV1.name });
}

async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = `/v1/query/video_generation?task_id=${encodeURIComponent(id)}`;
  const response = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  const body = membersOf(response.json);
  switch (body['status']) {
    case 'Preparing':
    case 'Queueing':
      return { kind: 'queued' };
    case 'Success':
      return findFile(api, credential, body['file_id'], signal);
    case 'Fail':
      return readFailed(body);
  }
  throwIfRefused(response);
  return { kind: 'running', progress: null };
}

/** The link expires after an hour, so every poll asks for a fresh one. */
async function findFile(
  api: JsonApi,
  credential: string,
  fileId: unknown,
  signal?: AbortSignal,
): Promise<JobState> {
  const id = Number.isSafeInteger(fileId) ? String(fileId) : textOf(fileId);
  if (id === null) return UNREADABLE;
  const path = `/v1/files/retrieve?file_id=${encodeURIComponent(id)}`;
  const response = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  throwIfRefused(response);
  const url = textOf(membersOf(membersOf(response.json)['file'])['download_url']);
  // The vendor bills by the order and reports nothing about what was delivered.
  return url === null ? UNREADABLE : { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: {} };
}

function requestBody(job: UpstreamJob): JsonObject {
  const { order, inputImages } = job;
  const [first, last] = inputImages;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    prompt: job.prompt,
    duration: order.seconds,
  };
  if (order.resolution !== null) body['resolution'] = order.resolution.toUpperCase();
  if (first !== undefined) body['first_frame_image'] = first;
  if (last !== undefined) body['last_frame_image'] = last;
  if (order.promptExtension !== null) body['prompt_optimizer'] = order.promptExtension;
  if (order.watermark !== null) body['aigc_watermark'] = order.watermark;
  return body;
}

function readFailed(body: Members): JobState {
  const { status_code: code, status_msg: message } = membersOf(body['base_resp']);
  const text = textOf(message);
  const known = VERDICTS[numberOf(code) ?? 0]?.errorClass;
  const errorClass = known ?? findMeaning(CLASS_OF_MESSAGE, text) ?? 'transient';
  return { kind: 'failed', errorClass, text };
}

/** The refusal in `base_resp`; null where that reports success or is absent. */
function refusalIn(body: Members, upstreamRequestId: string | null): UpstreamFailure | null {
  const { status_code: reported, status_msg: message } = membersOf(body['base_resp']);
  const code = numberOf(reported);
  if (code === null || code === 0) return null;
  const { errorClass, fate } = VERDICTS[code] ?? { errorClass: 'transient', fate: 'unknown' };
  return new UpstreamFailure(errorClass, fate, { text: textOf(message), upstreamRequestId });
}

function throwIfRefused({ json, upstreamRequestId }: JsonResponse): void {
  const refusal = refusalIn(membersOf(json), upstreamRequestId);
  if (refusal) throw refusal.errorClass === 'invalid' ? expired(refusal) : refusal;
}

/** A response outside 2xx may carry the vendor's own code, which then decides unless it is vague. */
function submitFailure(response: UpstreamResponse): UpstreamFailure {
  const byStatus = failureOfStatus(response);
  const refusal = refusalIn(readJson(response.body), response.upstreamRequestId);
  if (!refusal) return byStatus;
  const { errorClass, fate, text } = refusal.errorClass === 'transient' ? byStatus : refusal;
  const { retryAfterMs, upstreamRequestId } = byStatus;
  return new UpstreamFailure(errorClass, fate, {
    text: text ?? refusal.text,
    retryAfterMs,
    upstreamRequestId,
  });
}

function pollFailure(response: UpstreamResponse): UpstreamFailure {
  const refusal = submitFailure(response);
  return response.status === 404 || refusal.errorClass === 'invalid' ? expired(refusal) : refusal;
}

/** A query has no parameter but an id, so what the vendor calls invalid is an id that it does not know. */
function expired({ text, upstreamRequestId }: UpstreamFailure): UpstreamFailure {
  return new UpstreamFailure('expired', 'refused', { text, upstreamRequestId });
}

function readJson(body: Buffer): Members {
  try {
    return membersOf(JSON.parse(body.toString('utf8')));
  } catch {
    return {};
  }
}
