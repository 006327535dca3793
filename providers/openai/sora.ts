// Adapter for OpenAI's Videos API, which its own vendor closed in 2026 and resellers still speak, each a little
// differently: a job, progress, and a download that needs the key.
import type { JobHandle } from '../../domain/jobs.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { requestJson } from '../http/client.ts';
import { failureOfStatus } from '../http/status.ts';
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
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';
import { classOfFailedJob, pollFailure, refine } from './sora-errors.ts';
import { LIST_ENTRIES_MAX, matchListed } from './sora-list.ts';
import { writeOrder } from './sora-order.ts';

export const NAME = 'sora';
export const FAMILY = 'sora';

const ANSWER_BYTES_MAX = 1024 * 1024;
/** Every entry of the list repeats its prompt. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** The longest video on offer has 20 seconds; a figure beyond this is nonsense. */
const SECONDS_PLAUSIBLE_MAX = 600;

/** Words of all services that speak this API, in lower case. Any other word means: still at work. */
const WORDS = {
  queued: ['queued', 'pending', 'submitted', 'not_start', 'preparing', 'created'],
  done: ['completed', 'complete', 'success', 'succeeded', 'finished'],
  failed: ['failed', 'failure', 'fail', 'error'],
  cancelled: ['cancelled', 'canceled'],
  expired: ['expired'],
} as const;

/** The API has no cancel: DELETE removes finished work only. */
export function createSora(settings: AdapterSettings): Provider {
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentials: credentialIds(settings),
    submit: (job) => submit(settings, job),
    poll: (handle, signal) => poll(settings, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(settings, job, sentAt, signal),
    downloadHeaders: async ({ credential }) => authorize(settings, credential),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  const authorization = authorize(settings, job.credential);
  const { headers, body } = writeOrder(job, await loadInputImages(job.inputImages));
  const { json, upstreamRequestId } = await requestJson(
    {
      method: 'POST',
      url: `${settings.baseUrl}/videos`,
      headers: { ...authorization, ...headers },
      body,
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
    },
    (answer) => failureOfStatus(answer, refine),
  );
  const id = idOf(membersOf(json));
  if (id === null) throw failureWithoutId(json, upstreamRequestId);
  return { kind: 'accepted', handle: { id, credential: job.credential }, upstreamRequestId };
}

/** A 404 is thrown as `expired`, `refused`: only the caller knows how old the job is. */
async function poll(settings: AdapterSettings, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const url = `${settings.baseUrl}/videos/${encodeURIComponent(handle.id)}`;
  const { json } = await requestJson(
    {
      method: 'GET',
      url,
      headers: authorize(settings, handle.credential),
      timeoutMs: settings.upstreamTimeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    },
    pollFailure,
  );
  return readState(membersOf(json), `${url}/content`);
}

/**
 * The list knows no reference of ours, so the one entry with everything that was ordered, made just then, is taken for
 * ours. Pictures are not listed: two callers may order the same words with different ones, so those are left alone.
 */
async function lookUp(
  settings: AdapterSettings,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const headers = authorize(settings, job.credential);
  if (job.inputImages.length > 0) return { kind: 'unclear' };
  const { json } = await requestJson({
    method: 'GET',
    url: `${settings.baseUrl}/videos?limit=${LIST_ENTRIES_MAX}&order=desc`,
    headers,
    timeoutMs: settings.upstreamTimeoutMs,
    bytesMax: LIST_BYTES_MAX,
    signal,
  });
  const entry = matchListed(membersOf(json), job, sentAt);
  const id = entry && idOf(entry);
  return id ? { kind: 'found', handle: { id, credential: job.credential } } : { kind: 'unclear' };
}

function authorize(settings: AdapterSettings, credentialId: string) {
  return { authorization: `Bearer ${findCredential(settings, credentialId).key}` };
}

function idOf(video: Members): string | null {
  return textOf(video['id']) ?? textOf(video['task_id']);
}

/** Some services refuse with status 200. Without clear words nobody knows whether they took the work. */
function failureWithoutId(json: unknown, upstreamRequestId: string | null): UpstreamFailure {
  const error = readVendorError(json);
  const verdict = error === null ? undefined : refine(error);
  return new UpstreamFailure(verdict?.errorClass ?? 'invalid_response', verdict?.fate ?? 'unknown', {
    text: error?.message ?? null,
    upstreamRequestId,
  });
}

/** `contentUrl`: where the video is unless the answer says another place. */
function readState(video: Members, contentUrl: string): JobState {
  const word = textOf(video['status'])?.toLowerCase() ?? '';
  const is = (words: readonly string[]): boolean => words.includes(word);
  if (is(WORDS.queued)) return { kind: 'queued' };
  if (is(WORDS.done)) return readDone(video, contentUrl);
  if (is(WORDS.failed)) return readFailed(video);
  if (is(WORDS.cancelled)) return { kind: 'cancelled' };
  if (is(WORDS.expired)) return { kind: 'expired' };
  return { kind: 'running', progress: numberOf(video['progress']) };
}

/** Wherever the link leads, the key goes to the configured origin alone. */
function readDone(video: Members, contentUrl: string): JobState {
  const told =
    textOf(membersOf(video['metadata'])['url']) ?? textOf(video['video_url']) ?? textOf(video['url']);
  const url = URL.parse(told ?? contentUrl, contentUrl)?.href ?? contentUrl;
  return { kind: 'succeeded', results: [{ kind: 'guarded_url', url }], evidence: readEvidence(video) };
}

function readFailed(video: Members): JobState {
  const error = readVendorError({ error: video['error'] });
  return { kind: 'failed', errorClass: classOfFailedJob(error), text: error?.message ?? null };
}

/** The vendor writes the seconds as a text, resellers also as a number. */
function readEvidence(video: Members): Evidence {
  const text = textOf(video['seconds']);
  const seconds = text === null ? numberOf(video['seconds']) : Number(text);
  return seconds !== null && seconds > 0 && seconds <= SECONDS_PLAUSIBLE_MAX ? { seconds } : {};
}
