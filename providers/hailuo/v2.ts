// MiniMax's second video API (H3): one list of contents with roles, true HTTP statuses, and reported usage.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { acceptedJob } from '../accepted-job.ts';
import type { JsonApi, JsonObject } from '../http/json-api.ts';
import { hasFrame, frameRole } from '../image-roles.ts';
import { findMeaning, meaningOf, type Patterns } from '../patterns.ts';
import { readSeconds, readVideoSeconds } from '../reported-seconds.ts';
import {
  UpstreamFailure,
  type Cancellation,
  type JobState,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import type { HailuoVariant } from './variant.ts';
import { membersOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';

export const hailuoV2: HailuoVariant = { name: 'v2', submit, poll, cancel };

/** Codes in brackets at the end of messages, and codes of failed jobs. */
const CLASS_OF_CODE: Readonly<Record<string, UpstreamErrorClass>> = {
  1002: 'rate',
  1004: 'auth',
  1008: 'quota',
  1026: 'moderation',
  1027: 'moderation',
  2013: 'invalid',
  2049: 'auth',
};
const CLASS_OF_MESSAGE: Patterns<UpstreamErrorClass> = [
  [/sensitive|moderation|policy|violat/, 'moderation'],
  [/balance|quota/, 'quota'],
  [/concurren/, 'concurrency'],
  [/invalid|param|unsupported|decode/, 'invalid'],
];

async function submit(api: JsonApi, job: UpstreamJob): Promise<Submission> {
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: '/v2/video_generation',
    credential: job.credential,
    json: requestBody(job),
    toFailure: submitFailure,
  });
  return acceptedJob(job, membersOf(json)['task_id'], upstreamRequestId, { dialect: hailuoV2.name });
}

async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = `/v2/query/video_generation/${encodeURIComponent(id)}`;
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  return readState(membersOf(membersOf(json)['task']));
}

/** DELETE stops waiting work only and erases the record of finished work, so the state is read first. */
async function cancel(api: JsonApi, handle: JobHandle, signal?: AbortSignal): Promise<Cancellation> {
  const { kind } = await poll(api, handle, signal);
  if (kind === 'cancelled') return 'cancelled';
  if (kind !== 'queued') return 'too_late';
  const { id, credential } = handle;
  try {
    const path = `/v2/video_generation/${encodeURIComponent(id)}`;
    await api.send({ method: 'DELETE', path, credential, signal, toFailure: pollFailure });
    return 'cancelled';
  } catch (error) {
    // The work began between the two requests.
    if (error instanceof UpstreamFailure && error.errorClass === 'invalid') return 'too_late';
    throw error;
  }
}

function requestBody(job: UpstreamJob): JsonObject {
  const { order } = job;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    content: contentOf(job),
    duration: order.seconds,
  };
  if (order.resolution !== null) body['resolution'] = order.resolution.toUpperCase();
  const ratio = hasFrame(order) ? 'adaptive' : order.ratio;
  if (ratio !== null) body['ratio'] = ratio;
  if (order.watermark !== null) body['aigc_watermark'] = order.watermark;
  return body;
}

function contentOf({ order, prompt, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  return [
    { type: 'text', text: prompt },
    ...inputImages.map((url, index) => {
      return { type: 'image_url', image_url: { url }, role: frameRole(order, index) ?? 'reference_image' };
    }),
    ...inputVideos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
  ];
}

/** Unknown status values are treated as running. */
function readState(task: Members): JobState {
  switch (task['status']) {
    case 'queued':
      return { kind: 'queued' };
    case 'succeeded':
      return readDone(task);
    case 'failed':
      return readFailed(membersOf(task['error']));
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'expired':
      return { kind: 'expired' };
    default:
      return { kind: 'running', progress: null };
  }
}

/** Every poll brings a fresh link, since it is short-lived. */
function readDone(task: Members): JobState {
  const url = textOf(membersOf(task['content'])['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  const { output_seconds: output, input_seconds: input } = membersOf(task['usage']);
  const seconds = readVideoSeconds(output);
  const inputVideoSeconds = readSeconds(input);
  const evidence: Evidence = {
    ...(seconds === null ? {} : { seconds }),
    ...(inputVideoSeconds === null ? {} : { inputVideoSeconds }),
  };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence };
}

function readFailed({ code, message }: Members): JobState {
  const text = textOf(message);
  const errorClass = meaningOf(CLASS_OF_CODE, readCode(code)) ?? classOfMessage(text) ?? 'transient';
  return { kind: 'failed', errorClass, text };
}

/** Codes come as numbers and as texts. */
function readCode(code: unknown): string | null {
  return typeof code === 'number' ? String(code) : textOf(code);
}

function classOfMessage(message: string | null): UpstreamErrorClass | undefined {
  const code = /[([](\d{4})[)\]]\s*$/.exec(message ?? '')?.[1];
  return meaningOf(CLASS_OF_CODE, code) ?? findMeaning(CLASS_OF_MESSAGE, message);
}

function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

/** The message decides only where one status stands for two classes. */
function refine({ message }: VendorError, status: number): Verdict | undefined {
  const errorClass = classOfMessage(message);
  if ((status === 400 || status === 422) && errorClass === 'moderation')
    return { errorClass: 'moderation', fate: 'refused' };
  if (status === 429 && errorClass === 'concurrency')
    return { errorClass: 'concurrency', fate: 'not_received' };
  return undefined;
}

function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}
