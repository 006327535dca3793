// Adapter for ByteDance's Seedance videos on Volcengine Ark and BytePlus ModelArk: a job, billed by the
// token.
import { createHash } from 'node:crypto';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { acceptedJob, jobIdOf } from '../accepted-job.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { beginsWithFrame, frameRole } from '../image-roles.ts';
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
import { pollFailure, refine, submitFailure } from './errors.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'seedance';
export const FAMILY = 'seedance';

const TASKS = '/contents/generations/tasks';
const LIST_BYTES_MAX = 8 * 1024 * 1024;
const LIST_ENTRIES_MAX = 200;
const MARK_CHARACTERS = 32;
/** 60 seconds of 1080p are about three million tokens; a figure beyond this is nonsense. */
const TOKENS_PLAUSIBLE_MAX = 100_000_000;
/** How far the vendor's clock may be from ours, and how late a request may arrive. */
const CREATED_BEFORE_SECONDS_MAX = 60;
const CREATED_AFTER_SECONDS_MAX = 900;

export function createSeedance(settings: AdapterSettings): Provider {
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
    path: TASKS,
    credential: job.credential,
    json: requestBody(job),
    toFailure: submitFailure,
  });
  return acceptedJob(job, membersOf(json)['id'], upstreamRequestId);
}

/**
 * A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is new or past its seven
 * days.
 */
async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = taskPath(id);
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  return readState(membersOf(json));
}

/** DELETE stops queued work only and erases the record of finished work, so the state is read first. */
async function cancel(api: JsonApi, handle: JobHandle, signal?: AbortSignal): Promise<Cancellation> {
  const { kind } = await poll(api, handle, signal);
  if (kind === 'cancelled') return 'cancelled';
  if (kind !== 'queued') return 'too_late';
  const { id, credential } = handle;
  try {
    const path = taskPath(id);
    await api.send({ method: 'DELETE', path, credential, signal, toFailure: pollFailure });
    return 'cancelled';
  } catch (error) {
    // The work began between the two requests.
    if (error instanceof UpstreamFailure && error.fate === 'refused') return 'too_late';
    throw error;
  }
}

/**
 * Looks for the job's mark, which is made from its reference, in the vendor's list. Absence from the list
 * proves nothing: it may lag behind.
 */
async function lookUp(api: JsonApi, job: UpstreamJob, sentAt: Date, signal?: AbortSignal): Promise<LookUp> {
  const { credential } = job;
  const query = new URLSearchParams({
    page_num: '1',
    page_size: String(LIST_ENTRIES_MAX),
    'filter.model': job.upstreamModel,
  });
  const path = `${TASKS}?${query.toString()}`;
  const { json } = await api.send({ method: 'GET', path, credential, bytesMax: LIST_BYTES_MAX, signal });
  const matches = listOf(membersOf(json)['items'])
    .map(membersOf)
    .filter((entry) => matchesJob(entry, job, sentAt))
    .map(({ id }) => jobIdOf(id));
  const [id] = matches;
  if (matches.length !== 1 || typeof id !== 'string') return { kind: 'unclear' };
  return { kind: 'found', handle: { id, credential } };
}

function taskPath(id: string): string {
  return `${TASKS}/${encodeURIComponent(id)}`;
}

/** Every choice is sent: the vendor's default duration on 2.5 is -1, which means that the model decides. */
function requestBody(job: UpstreamJob): JsonObject {
  const { order } = job;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    content: contentOf(job),
    duration: order.seconds,
    watermark: order.watermark ?? false,
    safety_identifier: markOf(job.reference),
  };
  if (order.resolution !== null) body['resolution'] = order.resolution;
  const ratio = takesRatioFromFrame(job) ? 'adaptive' : order.ratio;
  if (ratio !== null) body['ratio'] = ratio;
  if (order.audio !== null) body['generate_audio'] = order.audio;
  if (order.seed !== null) body['seed'] = order.seed;
  if (isNewest(job) && job.inputVideos.length > 0) body['omni_reference_task_type'] = 'reference';
  return body;
}

function contentOf({ prompt, order, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  const images = inputImages.map((url, index) => {
    return { type: 'image_url', image_url: { url }, role: frameRole(order, index) ?? 'reference_image' };
  });
  const videos = inputVideos.map((url) => {
    return { type: 'video_url', video_url: { url }, role: 'reference_video' };
  });
  return [{ type: 'text', text: prompt }, ...images, ...videos];
}

/** Seedance 2.5 refuses every other ratio when it gets frames. */
function takesRatioFromFrame(job: UpstreamJob): boolean {
  return beginsWithFrame(job.order) && isNewest(job);
}

/**
 * Seedance 2.5 reads the purpose of an input video out of the prompt unless it is told: an edit or an
 * extension then fails after the submission, because both want a duration and a ratio of the model's choice.
 */
function isNewest({ upstreamModel }: UpstreamJob): boolean {
  return /seedance-2-5\b/.test(upstreamModel);
}

/**
 * The mark by which a job is found again, the same for every try of one attempt. It travels in
 * `safety_identifier`, which every model takes and the list gives back unchanged (types of Ark's SDK 5.0.54);
 * a seed is taken by 1.x alone (BytePlus' page on creating tasks). 32 characters stay below any known limit
 * of the field.
 */
function markOf(reference: string): string {
  return createHash('sha256').update(reference).digest('hex').slice(0, MARK_CHARACTERS);
}

/** Whether nothing in an entry of the list contradicts the job. */
function matchesJob(entry: Members, job: UpstreamJob, sentAt: Date): boolean {
  const createdAt = numberOf(entry['created_at']);
  const lateBy = createdAt === null ? Infinity : createdAt - sentAt.getTime() / 1000;
  // A custom endpoint ("ep-…") is listed under the name of its model; the query has already filtered by it.
  const isModel = job.upstreamModel.startsWith('ep-') || entry['model'] === job.upstreamModel;
  return (
    entry['safety_identifier'] === markOf(job.reference) &&
    isModel &&
    lateBy >= -CREATED_BEFORE_SECONDS_MAX &&
    lateBy <= CREATED_AFTER_SECONDS_MAX &&
    (entry['duration'] === undefined || entry['duration'] === job.order.seconds) &&
    (entry['resolution'] === undefined || entry['resolution'] === job.order.resolution)
  );
}

/** Unknown status values are treated as running. The vendor reports no progress. */
function readState(body: Members): JobState {
  switch (textOf(body['status'])?.toLowerCase()) {
    case 'queued':
      return { kind: 'queued' };
    case 'succeeded':
      return readDone(body);
    case 'failed':
      return readFailed(body);
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'expired':
      return { kind: 'expired' };
    default:
      return { kind: 'running', progress: null };
  }
}

function readDone(body: Members): JobState {
  const url = textOf(membersOf(body['content'])['video_url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: readEvidence(body) };
}

function readFailed(body: Members): JobState {
  const error = readVendorError({ error: body['error'] });
  const errorClass = (error === null ? undefined : refine(error))?.errorClass ?? 'transient';
  return { kind: 'failed', errorClass, text: error?.message ?? null };
}

/** The tokens that the vendor bills, which it reports on success only. */
function readEvidence(body: Members): Evidence {
  const tokens = numberOf(membersOf(body['usage'])['completion_tokens']);
  return tokens !== null && tokens > 0 && tokens <= TOKENS_PLAUSIBLE_MAX ? { tokens } : {};
}
