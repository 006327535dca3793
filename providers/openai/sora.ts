// Adapter for OpenAI's Videos API: a job, progress, and a download that needs the key. OpenAI closed it in
// 2026; resellers still offer it, each a little differently.
import type { JobHandle } from '../../domain/jobs.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { authorizeByBearer, createJsonApi, type JsonApi } from '../http/json-api.ts';
import { readVideoSeconds } from '../reported-seconds.ts';
import { acceptedJob, jobIdOf } from '../accepted-job.ts';
import { loadInputImages } from '../http/input-images.ts';
import {
  UpstreamFailure,
  type JobState,
  type LookUp,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { membersOf, numberOf, readVendorError, textOf, type Members } from '../http/json-fields.ts';
import { everyCredential, findCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { classOfFailedJob, pollFailure, refine, submitFailure } from './sora-errors.ts';
import { LIST_ENTRIES_MAX, matchListed } from './sora-list.ts';
import { requestContent } from './sora-order.ts';

export const NAME = 'sora';
export const FAMILY = 'sora';

/** Every entry of the list repeats its prompt. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Status values of all services with this API, in lower case. Unknown status values are treated as running.
 */
const STATUSES = {
  queued: ['queued', 'pending', 'submitted', 'not_start', 'preparing', 'created'],
  done: ['completed', 'complete', 'success', 'succeeded', 'finished'],
  failed: ['failed', 'failure', 'fail', 'error'],
  cancelled: ['cancelled', 'canceled'],
  expired: ['expired'],
} as const;

/** The API has no cancel: DELETE removes finished work only. */
export function createSora(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(api, settings, job),
    poll: (handle, signal) => poll(api, settings, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(api, settings, job, sentAt, signal),
    downloadHeaders: async ({ credential }) => authorizeByBearer(findCredential(settings, credential)),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  // Before any image is fetched in vain.
  const credential = findCredential(settings, job.credential).id;
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: '/videos',
    credential,
    ...requestContent(job, await loadInputImages(job.inputImages)),
    toFailure: submitFailure,
  });
  const id = idOf(membersOf(json));
  if (id === null) throw failureWithoutId(json, upstreamRequestId);
  return acceptedJob(job, id, upstreamRequestId);
}

/** A 404 is thrown as `expired`, `refused`: only the caller knows how old the job is. */
async function poll(
  api: JsonApi,
  settings: AdapterSettings,
  { id, credential }: JobHandle,
  signal?: AbortSignal,
): Promise<JobState> {
  const path = `/videos/${encodeURIComponent(id)}`;
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  return readState(membersOf(json), `${settings.baseUrl}${path}/content`);
}

/**
 * Looks for the job in the vendor's list, which has no reference of ours: the only entry with everything that
 * was ordered, created just then, is taken for it. Pictures are not listed, and two callers may order the
 * same words with different ones, so jobs with input images stay unclear.
 */
async function lookUp(
  api: JsonApi,
  settings: AdapterSettings,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const credential = findCredential(settings, job.credential).id;
  if (job.inputImages.length > 0) return { kind: 'unclear' };
  const path = `/videos?limit=${LIST_ENTRIES_MAX}&order=desc`;
  const { json } = await api.send({ method: 'GET', path, credential, bytesMax: LIST_BYTES_MAX, signal });
  const entry = matchListed(membersOf(json), job, sentAt);
  const id = entry && idOf(entry);
  return id ? { kind: 'found', handle: { id, credential } } : { kind: 'unclear' };
}

function idOf(video: Members): string | null {
  return jobIdOf(video['id']) ?? jobIdOf(video['task_id']);
}

/** Some services refuse with status 200. Without a known error the work may have been taken. */
function failureWithoutId(json: unknown, upstreamRequestId: string | null): UpstreamFailure {
  const error = readVendorError(json);
  const verdict = error === null ? undefined : refine(error);
  return new UpstreamFailure(verdict?.errorClass ?? 'invalid_response', verdict?.fate ?? 'unknown', {
    text: error?.message ?? null,
    upstreamRequestId,
  });
}

/** `contentUrl`: where the video is unless the answer holds another link. */
function readState(video: Members, contentUrl: string): JobState {
  const status = textOf(video['status'])?.toLowerCase() ?? '';
  const is = (statuses: readonly string[]): boolean => statuses.includes(status);
  if (is(STATUSES.queued)) return { kind: 'queued' };
  if (is(STATUSES.done)) return readDone(video, contentUrl);
  if (is(STATUSES.failed)) return readFailed(video);
  if (is(STATUSES.cancelled)) return { kind: 'cancelled' };
  if (is(STATUSES.expired)) return { kind: 'expired' };
  return { kind: 'running', progress: numberOf(video['progress']) };
}

/** A link may lead anywhere, since the key is sent to the configured origin only. */
function readDone(video: Members, contentUrl: string): JobState {
  const reported =
    textOf(membersOf(video['metadata'])['url']) ?? textOf(video['video_url']) ?? textOf(video['url']);
  const url = URL.parse(reported ?? contentUrl, contentUrl)?.href ?? contentUrl;
  return { kind: 'succeeded', results: [{ kind: 'guarded_url', url }], evidence: readEvidence(video) };
}

function readFailed(video: Members): JobState {
  const error = readVendorError({ error: video['error'] });
  return { kind: 'failed', errorClass: classOfFailedJob(error), text: error?.message ?? null };
}

/** OpenAI writes the seconds as a text, resellers also as a number. */
function readEvidence(video: Members): Evidence {
  const text = textOf(video['seconds']);
  const seconds = readVideoSeconds(text === null ? video['seconds'] : Number(text));
  return seconds === null ? {} : { seconds };
}
