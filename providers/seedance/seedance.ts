// Adapter for ByteDance's Seedance videos on Volcengine Ark and BytePlus ModelArk: a job, billed by the token.
import { createHash } from 'node:crypto';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { requestJson } from '../http/client.ts';
import { UpstreamFailure, type JobState, type LookUp, type Provider, type Submission } from '../provider.ts';
import type { UpstreamJob } from '../provider.ts';
import { listOf, membersOf, numberOf, readVendorError, textOf, type Members } from '../http/json-fields.ts';
import { pollFailure, refine, submitFailure } from './errors.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'seedance';
export const FAMILY = 'seedance';

const TASKS = '/contents/generations/tasks';
const ANSWER_BYTES_MAX = 1024 * 1024;
const LIST_BYTES_MAX = 8 * 1024 * 1024;
const LIST_ENTRIES_MAX = 200;
/** 60 seconds of 1080p are about three million; a figure beyond this is nonsense. */
const TOKENS_PLAUSIBLE_MAX = 100_000_000;
/** How far the vendor's clock may be from ours, and how late a request may arrive. */
const CREATED_BEFORE_SECONDS_MAX = 60;
const CREATED_AFTER_SECONDS_MAX = 900;

export function createSeedance(settings: AdapterSettings): Provider {
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
      url: `${settings.baseUrl}${TASKS}`,
      headers: { authorization: `Bearer ${credential.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(requestBody(job)),
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
    },
    submitFailure,
  );
  const id = textOf(membersOf(json)['id']);
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { kind: 'accepted', handle: { id, credential: credential.id }, upstreamRequestId };
}

/** A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is new or past its seven days. */
async function poll(settings: AdapterSettings, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  return readState(membersOf(await callTask(settings, handle, 'GET', signal)));
}

/** DELETE stops queued work only; of finished work it erases the record, so the state is read first. */
async function cancel(
  settings: AdapterSettings,
  handle: JobHandle,
  signal?: AbortSignal,
): Promise<'cancelled' | 'too_late'> {
  const { kind } = await poll(settings, handle, signal);
  if (kind === 'cancelled') return 'cancelled';
  if (kind !== 'queued') return 'too_late';
  try {
    await callTask(settings, handle, 'DELETE', signal);
  } catch (error) {
    // It began in between.
    if (error instanceof UpstreamFailure && error.fate === 'refused') return 'too_late';
    throw error;
  }
  return 'cancelled';
}

/**
 * The list tells every job's seed, and ours is made from the job's reference. An entry that is not there proves
 * nothing: the list may lag behind, and some models may not tell the seed before the end.
 */
async function lookUp(
  settings: AdapterSettings,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const credential = findCredential(settings, job.credential);
  const query = new URLSearchParams({
    page_num: '1',
    page_size: String(LIST_ENTRIES_MAX),
    'filter.model': job.upstreamModel,
  });
  const { json } = await requestJson({
    method: 'GET',
    url: `${settings.baseUrl}${TASKS}?${query.toString()}`,
    headers: { authorization: `Bearer ${credential.key}` },
    timeoutMs: settings.upstreamTimeoutMs,
    bytesMax: LIST_BYTES_MAX,
    signal,
  });
  const matches = listOf(membersOf(json)['items'])
    .map(membersOf)
    .filter((entry) => isOurs(entry, job, sentAt))
    .map(({ id }) => textOf(id));
  const [id] = matches;
  if (matches.length !== 1 || typeof id !== 'string') return { kind: 'unclear' };
  return { kind: 'found', handle: { id, credential: credential.id } };
}

async function callTask(
  settings: AdapterSettings,
  handle: JobHandle,
  method: 'GET' | 'DELETE',
  signal?: AbortSignal,
): Promise<unknown> {
  const credential = findCredential(settings, handle.credential);
  const { json } = await requestJson(
    {
      method,
      url: `${settings.baseUrl}${TASKS}/${encodeURIComponent(handle.id)}`,
      headers: { authorization: `Bearer ${credential.key}` },
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    },
    pollFailure,
  );
  return json;
}

/** Every choice is sent: the vendor's default duration on 2.5 is -1, which means that the model decides. */
function requestBody(job: UpstreamJob): Record<string, JsonValue> {
  const { order } = job;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    content: contentOf(job),
    duration: order.seconds,
    watermark: false,
    seed: seedOf(job.reference),
  };
  if (order.resolution !== null) body['resolution'] = order.resolution;
  const ratio = takesRatioFromFrame(job) ? 'adaptive' : order.ratio;
  if (ratio !== null) body['ratio'] = ratio;
  if (order.audio !== null) body['generate_audio'] = order.audio;
  return body;
}

function contentOf({ prompt, order, inputImages, inputVideos }: UpstreamJob): JsonValue[] {
  const frameRoles = ['first_frame', 'last_frame'];
  const asReferences = order.imageRole === 'references';
  const images = inputImages.map((url, index) => {
    const role = asReferences ? 'reference_image' : (frameRoles[index] ?? 'reference_image');
    return { type: 'image_url', image_url: { url }, role };
  });
  const videos = inputVideos.map((url) => ({
    type: 'video_url',
    video_url: { url },
    role: 'reference_video',
  }));
  return [{ type: 'text', text: prompt }, ...images, ...videos];
}

/** 2.5 refuses every other ratio when it gets frames. */
function takesRatioFromFrame({ upstreamModel, order }: UpstreamJob): boolean {
  const hasFrames = order.imageRole === 'first_frame' || order.imageRole === 'first_and_last_frame';
  return hasFrames && /seedance-2-5\b/.test(upstreamModel);
}

/** 31 bits, since BytePlus takes no more. The same for every try of one attempt. */
function seedOf(reference: string): number {
  return createHash('sha256').update(reference).digest().readUInt32BE(0) >>> 1;
}

/** What the list tells about a job must not contradict the order anywhere. */
function isOurs(entry: Members, job: UpstreamJob, sentAt: Date): boolean {
  const createdAt = numberOf(entry['created_at']);
  const lateBy = createdAt === null ? Infinity : createdAt - sentAt.getTime() / 1000;
  // An endpoint of one's own ("ep-…") is listed under the name of its model; the query has already asked for it.
  const isModel = job.upstreamModel.startsWith('ep-') || entry['model'] === job.upstreamModel;
  return (
    entry['seed'] === seedOf(job.reference) &&
    isModel &&
    lateBy >= -CREATED_BEFORE_SECONDS_MAX &&
    lateBy <= CREATED_AFTER_SECONDS_MAX &&
    (entry['duration'] === undefined || entry['duration'] === job.order.seconds) &&
    (entry['resolution'] === undefined || entry['resolution'] === job.order.resolution)
  );
}

/** A word nobody has heard of means: still at work. The vendor tells no progress. */
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

/** Told on success only, and what the vendor bills. */
function readEvidence(body: Members): Evidence {
  const tokens = numberOf(membersOf(body['usage'])['completion_tokens']);
  return tokens !== null && tokens > 0 && tokens <= TOKENS_PLAUSIBLE_MAX ? { tokens } : {};
}
