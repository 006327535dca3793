// Adapter for ShengShu's Vidu videos: one endpoint per use of input images; waiting jobs can be cancelled.
import type { ImageRole } from '../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { beginsWithFrame } from '../image-roles.ts';
import { acceptedJob } from '../accepted-job.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { meaningOf } from '../patterns.ts';
import {
  UpstreamFailure,
  type Cancellation,
  type JobState,
  type Provider,
  type RequestFate,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { listOf, membersOf, numberOf, textOf, type Members, type VendorError } from '../http/json-fields.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'vidu';
export const FAMILY = 'vidu';

/** The vendor's credit is $0.005, and so is ours. */
const MICRO_CREDITS_PER_CREDIT = 1_000_000n;
/** The dearest video on offer costs less than 500; a figure beyond this is nonsense. */
const CREDITS_PLAUSIBLE_MAX = 100_000;

/** No model of this vendor has a last frame alone, or a frame beside references. */
const ENDPOINTS: Readonly<Partial<Record<ImageRole, string>>> = {
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
  // The vendor's scheme is `Token`, not `Bearer`.
  const api = createJsonApi(settings, ({ key }) => ({ authorization: `Token ${key}` }));
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(api, job),
    poll: (handle, signal) => poll(api, handle, signal),
    cancel: (handle, signal) => cancel(api, handle, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, job: UpstreamJob): Promise<Submission> {
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: `/ent/v2/${ENDPOINTS[job.order.imageRole] ?? 'reference2video'}`,
    credential: job.credential,
    json: requestBody(job),
    toFailure: submitFailure,
  });
  return acceptedJob(job, membersOf(json)['task_id'], upstreamRequestId);
}

/**
 * A 404 is thrown as `expired`, `refused`: only the caller knows whether the job is too young or too old to
 * be seen.
 */
async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = `${taskPath(id)}/creations`;
  const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
  return readState(membersOf(json));
}

/** Works only while the job waits for its turn. */
async function cancel(
  api: JsonApi,
  { id, credential }: JobHandle,
  signal?: AbortSignal,
): Promise<Cancellation> {
  const path = `${taskPath(id)}/cancel`;
  try {
    await api.send({ method: 'POST', path, credential, json: { id }, signal, toFailure: pollFailure });
    return 'cancelled';
  } catch (error) {
    const isRefused = error instanceof UpstreamFailure && error.errorClass === 'invalid';
    if (isRefused) return 'too_late';
    throw error;
  }
}

function taskPath(id: string): string {
  return `/ent/v2/tasks/${encodeURIComponent(id)}`;
}

/**
 * Every choice is sent, so that none of the vendor's defaults decides. `off_peak` would halve the price and
 * may take two days.
 */
function requestBody(job: UpstreamJob): JsonObject {
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
  if (order.ratio !== null && !beginsWithFrame(order)) body['aspect_ratio'] = order.ratio;
  if (order.audio !== null) body['audio'] = order.audio;
  if (order.seed !== null) body['seed'] = order.seed;
  if (order.watermark !== null) body['watermark'] = order.watermark;
  return body;
}

/** Unknown status values are treated as running. */
function readState(body: Members): JobState {
  switch (textOf(body['state'])?.toLowerCase()) {
    case 'created':
    case 'queueing':
      return { kind: 'queued' };
    case 'success':
      return readDone(body);
    case 'failed':
      return readFailed(textOf(body['err_code']));
    default:
      return { kind: 'running', progress: null };
  }
}

function readDone(body: Members): JobState {
  const url = textOf(membersOf(listOf(body['creations'])[0])['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: readEvidence(body) };
}

function readFailed(text: string | null): JobState {
  const word = wordOf(text);
  if (word === 'usercancelled') return { kind: 'cancelled' };
  return { kind: 'failed', errorClass: meaningOf(CLASS_OF_WORD, word) ?? 'transient', text };
}

/** The vendor reports what it bills, not how long the video is. */
function readEvidence(body: Members): Evidence {
  const vendorCost = readCost(numberOf(body['credits']));
  return vendorCost === null ? {} : { vendorCost };
}

function readCost(credits: number | null): MicroCredits | null {
  const isPlausible =
    credits !== null && Number.isInteger(credits) && credits >= 0 && credits <= CREDITS_PLAUSIBLE_MAX;
  return isPlausible ? BigInt(credits) * MICRO_CREDITS_PER_CREDIT : null;
}

/** Reads `reason`, and `code`, which is sometimes the same word and sometimes the HTTP status. */
function refine({ code, type }: VendorError, status: number): Verdict | undefined {
  const errorClass = meaningOf(CLASS_OF_WORD, type) ?? meaningOf(CLASS_OF_WORD, code);
  if (errorClass === undefined) return undefined;
  const fate: RequestFate = NOT_RECEIVED.has(errorClass) ? 'not_received' : 'refused';
  // Behind a 5xx may be any internal error of the vendor, whatever the word.
  return status >= 500 ? undefined : { errorClass, fate };
}

function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}

/** The first word in lower case, since a sentence may follow it. */
function wordOf(text: string | null): string {
  return /^\w+/.exec(text ?? '')?.[0].toLowerCase() ?? '';
}
