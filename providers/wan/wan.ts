// Adapter for Alibaba's Wan videos on DashScope (Model Studio): an asynchronous task, billed by the second.
import { createHash } from 'node:crypto';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { acceptedJob, jobIdOf } from '../accepted-job.ts';
import { requestIdOf } from '../http/client.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { frameRole } from '../image-roles.ts';
import { readSeconds, readVideoSeconds } from '../reported-seconds.ts';
import {
  UpstreamFailure,
  type Cancellation,
  type JobState,
  type LookUp,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { listOf, membersOf, numberOf, readVendorError, textOf, type Members } from '../http/json-fields.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { pollFailure, refine, submitFailure } from './errors.ts';

export const NAME = 'wan';
export const FAMILY = 'wan';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';
const LIST_ENTRIES_MAX = 100;
/** Each candidate costs a request for its prompt, and the vendor allows 20 requests a second. */
const CANDIDATES_MAX = 15;
/** How far the vendor's clock may be from ours, and how late a request may arrive. */
const CREATED_BEFORE_MS_MAX = 60_000;
const CREATED_AFTER_MS_MAX = 900_000;
const MARK_BITS = 32;

export function createWan(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(api, job),
    poll: (handle, signal) => poll(api, handle, signal),
    cancel: (handle, signal) => cancel(api, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(api, job, sentAt, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, job: UpstreamJob): Promise<Submission> {
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: SYNTHESIS,
    credential: job.credential,
    // Without this header the vendor takes the request for a synchronous one and refuses it.
    headers: { 'x-dashscope-async': 'enable' },
    json: requestBody(job),
    toFailure: submitFailure,
  });
  const body = membersOf(json);
  const id = membersOf(body['output'])['task_id'];
  return acceptedJob(job, id, requestIdOf(body['request_id']) ?? upstreamRequestId);
}

/**
 * A 404 and the status UNKNOWN are thrown as `expired`, `refused`: only the caller knows whether the job is
 * new.
 */
async function poll(api: JsonApi, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  return readState(await readTask(api, handle, signal));
}

/** Only what has not begun can be stopped. */
async function cancel(
  api: JsonApi,
  { id, credential }: JobHandle,
  signal?: AbortSignal,
): Promise<Cancellation> {
  const path = `${taskPath(id)}/cancel`;
  try {
    await api.send({ method: 'POST', path, credential, signal, toFailure: pollFailure });
    return 'cancelled';
  } catch (error) {
    if (error instanceof UpstreamFailure && error.fate === 'refused') return 'too_late';
    throw error;
  }
}

/**
 * Looks for the job by the mark in its prompt, which is this attempt's alone. The list has no prompts, so
 * each task of the right model and time is asked for its own. Absence proves nothing: the list may lag
 * behind, and the vendor may trim prompts.
 */
async function lookUp(api: JsonApi, job: UpstreamJob, sentAt: Date, signal?: AbortSignal): Promise<LookUp> {
  const { upstreamModel, credential } = job;
  const query = { model_name: upstreamModel, page_no: '1', page_size: String(LIST_ENTRIES_MAX) };
  const path = `${TASKS}/?${new URLSearchParams(query).toString()}`;
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  const prompt = markedPrompt(job);
  for (const id of candidatesOf(membersOf(json), upstreamModel, sentAt)) {
    const handle = { id, credential };
    const task = await readTask(api, handle, signal);
    if (membersOf(task['output'])['orig_prompt'] === prompt) return { kind: 'found', handle };
  }
  return { kind: 'unclear' };
}

/** Ids of the tasks that may be the one, most likely first. */
function candidatesOf(list: Members, model: string, sentAt: Date): string[] {
  const candidates: { id: string; lateByMs: number }[] = [];
  for (const entry of listOf(list['data']).map(membersOf)) {
    const id = jobIdOf(entry['task_id']);
    const createdAt = numberOf(entry['gmt_create']) ?? numberOf(entry['start_time']);
    if (id === null || createdAt === null || entry['model_name'] !== model) continue;
    const lateByMs = createdAt - sentAt.getTime();
    if (lateByMs >= -CREATED_BEFORE_MS_MAX && lateByMs <= CREATED_AFTER_MS_MAX)
      candidates.push({ id, lateByMs });
  }
  candidates.sort((one, other) => Math.abs(one.lateByMs) - Math.abs(other.lateByMs));
  return candidates.slice(0, CANDIDATES_MAX).map(({ id }) => id);
}

async function readTask(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<Members> {
  const path = taskPath(id);
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  return membersOf(json);
}

function taskPath(id: string): string {
  return `${TASKS}/${encodeURIComponent(id)}`;
}

/** Every choice is sent: the vendor's own defaults must never decide. */
function requestBody(job: UpstreamJob): JsonObject {
  const { order, upstreamModel } = job;
  const media = mediaOf(job);
  const parameters: Record<string, JsonValue> = {
    duration: order.seconds,
    prompt_extend: order.promptExtension ?? true,
    watermark: order.watermark ?? false,
  };
  if (order.resolution !== null) parameters['resolution'] = order.resolution.toUpperCase();
  if (order.ratio !== null) parameters['ratio'] = order.ratio;
  // Only 3.0 can be silent; the others always have sound and no such parameter.
  if (order.audio !== null && upstreamModel.startsWith('wan3')) parameters['audio'] = order.audio;
  if (order.seed !== null) parameters['seed'] = order.seed;
  const { negativePrompt } = job;
  return {
    model: upstreamModel,
    input: {
      prompt: markedPrompt(job),
      ...(negativePrompt === null ? {} : { negative_prompt: negativePrompt }),
      ...(media.length > 0 ? { media } : {}),
    },
    parameters,
  };
}

function mediaOf({ order, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  return [
    ...inputImages.map((url, index) => ({ type: frameRole(order, index) ?? 'reference_image', url })),
    ...inputVideos.map((url) => ({ type: 'reference_video', url })),
  ];
}

/**
 * The prompt with 32 bits of the reference's digest as white space at its end, which no model reads. The
 * vendor takes no reference of ours but reports the prompt as it was sent, so that the mark tells apart two
 * callers who send the same words.
 */
function markedPrompt({ prompt, reference }: UpstreamJob): string {
  const bits = createHash('sha256').update(reference).digest().readUInt32BE(0).toString(2);
  const mark = bits.padStart(MARK_BITS, '0').replaceAll('0', ' ').replaceAll('1', '\n');
  return `${prompt.trimEnd()}${mark}`;
}

/** Unknown status values are treated as running. The vendor reports no progress. */
function readState(body: Members): JobState {
  const output = membersOf(body['output']);
  switch (textOf(output['task_status'])?.toUpperCase()) {
    case 'PENDING':
      return { kind: 'queued' };
    case 'SUCCEEDED':
      return readDone(output, membersOf(body['usage']));
    case 'FAILED':
      return readFailed(output);
    case 'CANCELED':
      return { kind: 'cancelled' };
    case 'UNKNOWN': // not visible yet, or gone after its 24 hours
      throw new UpstreamFailure('expired', 'refused', { text: textOf(output['message']) });
    default:
      return { kind: 'running', progress: null };
  }
}

function readDone(output: Members, usage: Members): JobState {
  const url = textOf(output['video_url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: readEvidence(usage) };
}

function readFailed(output: Members): JobState {
  const error = readVendorError(output);
  const errorClass = (error === null ? undefined : refine(error))?.errorClass ?? 'transient';
  return { kind: 'failed', errorClass, text: error?.message ?? null };
}

/**
 * `duration` includes the seconds of the input, so it stands for the output only where there was no input.
 */
function readEvidence(usage: Members): Evidence {
  const inputVideoSeconds = readVideoSeconds(usage['input_video_duration']);
  const hasInput = inputVideoSeconds !== null;
  const seconds =
    readSeconds(usage['output_video_duration']) ?? (hasInput ? null : readSeconds(usage['duration']));
  return {
    ...(seconds === null || seconds === 0 ? {} : { seconds }),
    ...(hasInput ? { inputVideoSeconds } : {}),
  };
}
