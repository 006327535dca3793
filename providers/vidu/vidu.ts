// Adapter for ShengShu's Vidu: one endpoint for each use of input images, and jobs that can be stopped while they wait.
import type { ImageRole } from '../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { requestJson, type UpstreamRequest } from '../http/client.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import {
  UpstreamFailure,
  type JobState,
  type Provider,
  type RequestFate,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { listOf, membersOf, numberOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'vidu';
export const FAMILY = 'vidu';

const ANSWER_BYTES_MAX = 1024 * 1024;
/** The vendor's credit is $0.005, and so is ours. */
const MICRO_CREDITS_PER_CREDIT = 1_000_000n;
/** The dearest video on offer has less than 500; a figure beyond this is nonsense. */
const CREDITS_PLAUSIBLE_MAX = 100_000;

const ENDPOINTS: Readonly<Record<ImageRole, string>> = {
  none: 'text2video',
  first_frame: 'img2video',
  first_and_last_frame: 'start-end2video',
  references: 'reference2video',
};

/** The stable words of refusals (`reason`) and of failed jobs (`err_code`), in lower case. */
const CLASS_OF_WORD: Readonly<Record<string, UpstreamErrorClass>> = {
  fieldinvalid: 'invalid',
  fieldlacking: 'invalid',
  fieldunwanted: 'invalid',
  imagedownloadfailure: 'invalid',
  imageformatinvalid: 'invalid',
  modelunavailable: 'model_retired',
  auditsubmitillegal: 'moderation',
  taskpromptpolicyviolation: 'moderation',
  creationpolicyviolation: 'moderation',
  creditinsufficient: 'quota',
  quotaexceeded: 'concurrency',
  toomanyrequests: 'rate',
  systemthrottling: 'rate',
};
const NOT_RECEIVED: ReadonlySet<UpstreamErrorClass> = new Set(['quota', 'concurrency', 'rate']);

export function createVidu(settings: AdapterSettings): Provider {
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentials: credentialIds(settings),
    submit: (job) => submit(settings, job),
    poll: (handle, signal) => poll(settings, handle, signal),
    cancel: (handle, signal) => cancel(settings, handle, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(settings: AdapterSettings, job: UpstreamJob): Promise<Submission> {
  const path = ENDPOINTS[job.order.imageRole];
  const { json, upstreamRequestId } = await requestJson(
    call(settings, job.credential, { method: 'POST', path, body: requestBody(job) }),
    (answer) => failureOfStatus(answer, refine),
  );
  const id = textOf(membersOf(json)['task_id']);
  if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return { kind: 'accepted', handle: { id, credential: job.credential }, upstreamRequestId };
}

/** A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is too young or too old to be seen. */
async function poll(settings: AdapterSettings, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = `tasks/${encodeURIComponent(handle.id)}/creations`;
  const { json } = await requestJson(
    call(settings, handle.credential, { method: 'GET', path, signal }),
    pollFailure,
  );
  return readState(membersOf(json));
}

/** Works only while the job waits for its turn. */
async function cancel(
  settings: AdapterSettings,
  handle: JobHandle,
  signal?: AbortSignal,
): Promise<'cancelled' | 'too_late'> {
  const path = `tasks/${encodeURIComponent(handle.id)}/cancel`;
  const body = { id: handle.id };
  try {
    await requestJson(call(settings, handle.credential, { method: 'POST', path, body, signal }), pollFailure);
    return 'cancelled';
  } catch (error) {
    const isRefused = error instanceof UpstreamFailure && error.errorClass === 'invalid';
    if (isRefused) return 'too_late';
    throw error;
  }
}

interface Request extends Pick<UpstreamRequest, 'method' | 'signal'> {
  path: string;
  body?: Record<string, JsonValue>;
}

/** The vendor’s scheme is `Token`, not `Bearer`. */
function call(settings: AdapterSettings, credentialId: string, request: Request): UpstreamRequest {
  const { method, path, body, signal } = request;
  const authorization = `Token ${findCredential(settings, credentialId).key}`;
  return {
    method,
    url: `${settings.baseUrl}/ent/v2/${path}`,
    headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    timeoutMs: settings.upstreamTimeoutMs,
    bytesMax: ANSWER_BYTES_MAX,
    signal,
  };
}

/**
 * Every choice is sent, so that none of the vendor's defaults decides. `off_peak` would halve the price and may take two
 * days.
 */
function requestBody(job: UpstreamJob): Record<string, JsonValue> {
  const { order, inputImages } = job;
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    prompt: job.prompt,
    duration: order.seconds,
    off_peak: false,
  };
  if (inputImages.length > 0) body['images'] = [...inputImages];
  if (order.resolution !== null) body['resolution'] = order.resolution;
  // Frames give the video its ratio, and with them the vendor refuses this member.
  if (order.ratio !== null && (order.imageRole === 'none' || order.imageRole === 'references'))
    body['aspect_ratio'] = order.ratio;
  if (order.audio !== null) body['audio'] = order.audio;
  return body;
}

/** A word nobody has heard of means: still at work. */
function readState(body: Members): JobState {
  switch (textOf(body['state'])?.toLowerCase()) {
    case 'created':
    case 'queueing':
      return { kind: 'queued' };
    case 'success':
      return readSuccess(body);
    case 'failed':
      return readFailed(textOf(body['err_code']));
    default:
      return { kind: 'running', progress: null };
  }
}

function readSuccess(body: Members): JobState {
  const url = textOf(membersOf(listOf(body['creations'])[0])['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: readEvidence(body) };
}

function readFailed(text: string | null): JobState {
  const word = wordOf(text);
  if (word === 'usercancelled') return { kind: 'cancelled' };
  return { kind: 'failed', errorClass: CLASS_OF_WORD[word] ?? 'transient', text };
}

/** The vendor tells what it bills, not how long the video is. */
function readEvidence(body: Members): Evidence {
  const vendorCost = readCost(numberOf(body['credits']));
  return vendorCost === null ? {} : { vendorCost };
}

function readCost(credits: number | null): MicroCredits | null {
  const isPlausible =
    credits !== null && Number.isInteger(credits) && credits >= 0 && credits <= CREDITS_PLAUSIBLE_MAX;
  return isPlausible ? BigInt(credits) * MICRO_CREDITS_PER_CREDIT : null;
}

/** The word is the `reason`; `code` is sometimes the same word and sometimes the HTTP status. */
function refine({ code, type }: VendorError, status: number): Verdict | undefined {
  const errorClass = CLASS_OF_WORD[type ?? ''] ?? CLASS_OF_WORD[code ?? ''];
  if (errorClass === undefined) return undefined;
  const fate: RequestFate = NOT_RECEIVED.has(errorClass) ? 'not_received' : 'refused';
  // A trouble of its own may hide behind any word.
  return status >= 500 ? undefined : { errorClass, fate };
}

function pollFailure(answer: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(answer, refine);
}

/** The first word, in lower case: somebody may add a sentence to it. */
function wordOf(text: string | null): string {
  return /^\w+/.exec(text ?? '')?.[0].toLowerCase() ?? '';
}
