// Adapter for Alibaba's Wan videos on DashScope (Model Studio): an asynchronous task, billed by the second.
import { createHash } from 'node:crypto';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { requestJson } from '../http/client.ts';
import { UpstreamFailure, type JobState, type LookUp, type Provider, type Submission } from '../provider.ts';
import type { UpstreamJob } from '../provider.ts';
import { listOf, membersOf, numberOf, readVendorError, textOf, type Members } from '../http/json-fields.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { pollFailure, refine, submitFailure } from './errors.ts';

export const NAME = 'wan';
export const FAMILY = 'wan';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';
const ANSWER_BYTES_MAX = 1024 * 1024;
/** The longest video on offer has 30 seconds; a figure beyond this is nonsense. */
const SECONDS_PLAUSIBLE_MAX = 600;
const LIST_ENTRIES_MAX = 100;
/** Each is asked for its prompt, and the vendor takes 20 questions a second. */
const CANDIDATES_MAX = 15;
const CREATED_BEFORE_MS_MAX = 60_000;
const CREATED_AFTER_MS_MAX = 900_000;
const MARK_BITS = 32;

export function createWan(settings: AdapterSettings): Provider {
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentials: credentialIds(settings),
    submit: (job) => submit(settings, job),
    poll: (handle, signal) => poll(settings, handle, signal),
    cancel: (handle, signal) => cancel(settings, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(settings, job, sentAt, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  const credential = findCredential(settings, job.credential);
  const { json, upstreamRequestId } = await requestJson(
    {
      method: 'POST',
      url: `${settings.baseUrl}${SYNTHESIS}`,
      headers: {
        authorization: `Bearer ${credential.key}`,
        'content-type': 'application/json',
        // Without it the vendor takes the call for a synchronous one and refuses it.
        'x-dashscope-async': 'enable',
      },
      body: JSON.stringify(requestBody(job)),
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
    },
    submitFailure,
  );
  const body = membersOf(json);
  const requestId = textOf(body['request_id']) ?? upstreamRequestId;
  const id = textOf(membersOf(body['output'])['task_id']);
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId: requestId });
  return { kind: 'accepted', handle: { id, credential: credential.id }, upstreamRequestId: requestId };
}

/** A 404 and the word UNKNOWN are thrown as `expired`, `refused`: only the caller knows whether the job is new. */
async function poll(settings: AdapterSettings, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  return readState(await readTask(settings, handle, signal));
}

/** Only what has not begun can be stopped. */
async function cancel(
  settings: AdapterSettings,
  handle: JobHandle,
  signal?: AbortSignal,
): Promise<'cancelled' | 'too_late'> {
  try {
    await callTasks(settings, handle.credential, {
      method: 'POST',
      path: `/${encodeURIComponent(handle.id)}/cancel`,
      signal,
    });
    return 'cancelled';
  } catch (error) {
    if (error instanceof UpstreamFailure && error.fate === 'refused') return 'too_late';
    throw error;
  }
}

/**
 * The list has no prompts, so each task of the right model and time is asked for its own; the mark in it is this
 * attempt's alone. A mark that is nowhere proves nothing: the list may lag behind, the vendor may trim prompts.
 */
async function lookUp(
  settings: AdapterSettings,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const { upstreamModel } = job;
  const query = { model_name: upstreamModel, page_no: '1', page_size: String(LIST_ENTRIES_MAX) };
  const path = `/?${new URLSearchParams(query).toString()}`;
  const list = membersOf(await callTasks(settings, job.credential, { method: 'GET', path, signal }));
  const prompt = markedPrompt(job);
  for (const id of candidatesOf(list, upstreamModel, sentAt)) {
    const handle = { id, credential: job.credential };
    const task = await readTask(settings, handle, signal);
    if (membersOf(task['output'])['orig_prompt'] === prompt) return { kind: 'found', handle };
  }
  return { kind: 'unclear' };
}

/** Ids of the tasks that may be the one, most likely first. */
function candidatesOf(list: Members, model: string, sentAt: Date): string[] {
  const candidates: { id: string; lateByMs: number }[] = [];
  for (const entry of listOf(list['data']).map(membersOf)) {
    const id = textOf(entry['task_id']);
    const createdAt = numberOf(entry['gmt_create']) ?? numberOf(entry['start_time']);
    if (id === null || createdAt === null || entry['model_name'] !== model) continue;
    const lateByMs = createdAt - sentAt.getTime();
    if (lateByMs >= -CREATED_BEFORE_MS_MAX && lateByMs <= CREATED_AFTER_MS_MAX)
      candidates.push({ id, lateByMs });
  }
  candidates.sort((one, other) => Math.abs(one.lateByMs) - Math.abs(other.lateByMs));
  return candidates.slice(0, CANDIDATES_MAX).map(({ id }) => id);
}

async function readTask(
  settings: AdapterSettings,
  { id, credential }: JobHandle,
  signal?: AbortSignal,
): Promise<Members> {
  const path = `/${encodeURIComponent(id)}`;
  return membersOf(await callTasks(settings, credential, { method: 'GET', path, signal }));
}

async function callTasks(
  settings: AdapterSettings,
  credentialId: string,
  call: { method: 'GET' | 'POST'; path: string; signal?: AbortSignal | undefined },
): Promise<unknown> {
  const credential = findCredential(settings, credentialId);
  const { json } = await requestJson(
    {
      method: call.method,
      url: `${settings.baseUrl}${TASKS}${call.path}`,
      headers: { authorization: `Bearer ${credential.key}` },
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      signal: call.signal,
    },
    pollFailure,
  );
  return json;
}

/** Every choice is sent: the vendor's own defaults must never decide. */
function requestBody(job: UpstreamJob): Record<string, JsonValue> {
  const { order, upstreamModel } = job;
  const media = mediaOf(job);
  const parameters: Record<string, JsonValue> = {
    duration: order.seconds,
    prompt_extend: true,
    watermark: false,
  };
  if (order.resolution !== null) parameters['resolution'] = order.resolution.toUpperCase();
  if (order.ratio !== null) parameters['ratio'] = order.ratio;
  // Only 3.0 can be silent; the others always have sound and no such parameter.
  if (order.audio !== null && upstreamModel.startsWith('wan3')) parameters['audio'] = order.audio;
  return {
    model: upstreamModel,
    input: { prompt: markedPrompt(job), ...(media.length > 0 ? { media } : {}) },
    parameters,
  };
}

function mediaOf({ order, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  const frames = ['first_frame', 'last_frame'];
  const asReferences = order.imageRole === 'references';
  return [
    ...inputImages.map((url, index) => {
      return { type: asReferences ? 'reference_image' : (frames[index] ?? 'reference_image'), url };
    }),
    ...inputVideos.map((url) => ({ type: 'reference_video', url })),
  ];
}

/**
 * The vendor knows no key of ours, but tells the prompt as it was sent: white space at its end, which no model reads,
 * makes it this attempt's own. Two callers who send the same words must never be taken for each other.
 */
function markedPrompt({ prompt, reference }: UpstreamJob): string {
  const bits = createHash('sha256').update(reference).digest().readUInt32BE(0).toString(2);
  const mark = bits.padStart(MARK_BITS, '0').replaceAll('0', ' ').replaceAll('1', '\n');
  return `${prompt.trimEnd()}${mark}`;
}

/** A word nobody has heard of means: still at work. The vendor tells no progress. */
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

/** `duration` counts the seconds of the input too, so it stands for the output only where there was no input. */
function readEvidence(usage: Members): Evidence {
  const inputVideoSeconds = readSeconds(usage['input_video_duration']);
  const hasInput = inputVideoSeconds !== null && inputVideoSeconds > 0;
  const seconds =
    readSeconds(usage['output_video_duration']) ?? (hasInput ? null : readSeconds(usage['duration']));
  return {
    ...(seconds !== null && seconds > 0 ? { seconds } : {}),
    ...(hasInput ? { inputVideoSeconds } : {}),
  };
}

function readSeconds(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? seconds : null;
}
