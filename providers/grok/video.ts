// Adapter for xAI's Grok Imagine videos: a job that is handed over, then polled until it is done.
import { divideRoundingUp, type MicroCredits } from '../../domain/credits.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { acceptedJob } from '../accepted-job.ts';
import { createJsonApi, type JsonApi, type JsonObject } from '../http/json-api.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { meaningOf } from '../patterns.ts';
import { readVideoSeconds } from '../reported-seconds.ts';
import {
  UpstreamFailure,
  type JobState,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import {
  membersOf,
  numberOf,
  readVendorError,
  textOf,
  type Members,
  type VendorError,
} from '../http/json-fields.ts';
import { everyCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'grok-video';
export const FAMILY = 'grok';

/** 1 USD is 10,000,000,000 ticks and 200,000,000 micro-credits. */
const TICKS_PER_MICRO_CREDIT = 50n;

/**
 * Codes of failed jobs; `unauthenticated` and `resource_exhausted` are undocumented members of the same set.
 */
const CLASS_OF_CODE: Readonly<Record<string, UpstreamErrorClass>> = {
  invalid_argument: 'invalid',
  failed_precondition: 'invalid',
  permission_denied: 'auth',
  unauthenticated: 'auth',
  resource_exhausted: 'rate',
  service_unavailable: 'transient',
  internal_error: 'transient',
};

/** The vendor has no cancel: what was handed over is finished and billed. */
export function createGrokVideo(settings: AdapterSettings): Provider {
  const api = createJsonApi(settings);
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: everyCredential(settings),
    submit: (job) => submit(api, job),
    poll: (handle, signal) => poll(api, handle, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(api: JsonApi, job: UpstreamJob): Promise<Submission> {
  const { json, upstreamRequestId } = await api.send({
    method: 'POST',
    path: '/videos/generations',
    credential: job.credential,
    json: requestBody(job),
    toFailure: submitFailure,
  });
  return acceptedJob(job, membersOf(json)['request_id'], upstreamRequestId);
}

/**
 * A 404 is thrown as `expired`, `refused`. The vendor may also answer it for a moment after the submission,
 * before the job can be seen everywhere: only the caller knows how old the job is, so the caller decides.
 */
async function poll(api: JsonApi, { id, credential }: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const path = `/videos/${encodeURIComponent(id)}`;
  try {
    const { json } = await api.send({ method: 'GET', path, credential, signal, toFailure: pollFailure });
    return readState(membersOf(json));
  } catch (error) {
    // A rejected video may be reported by an error status of the poll itself.
    if (!(error instanceof UpstreamFailure) || error.errorClass !== 'moderation') throw error;
    return { kind: 'failed', errorClass: 'moderation', text: error.text };
  }
}

/** Every choice is sent: the vendor's own defaults (8 seconds, 480p) must never decide. */
function requestBody(job: UpstreamJob): JsonObject {
  const { order } = job;
  const images = imageFields(job);
  const body: Record<string, JsonValue> = {
    model: job.upstreamModel,
    prompt: job.prompt,
    duration: order.seconds,
    ...images,
  };
  if (order.resolution !== null) body['resolution'] = order.resolution;
  // A first frame gives the video its ratio, and the vendor ignores this member.
  if (order.ratio !== null && images['image'] === undefined) body['aspect_ratio'] = order.ratio;
  if (order.audio !== null) body['generate_audio'] = order.audio;
  return body;
}

function imageFields({ order, inputImages }: UpstreamJob): JsonObject {
  const [first = '', last = ''] = inputImages;
  switch (order.imageRole) {
    case 'none':
      return {};
    case 'first_frame':
      return { image: { url: first } };
    case 'last_frame':
      return { last_frame: { url: first } };
    case 'first_and_last_frame':
      return { image: { url: first }, last_frame: { url: last } };
    case 'references':
      return { reference_images: inputImages.map((url) => ({ url })) };
    case 'first_frame_and_references':
      return { image: { url: first }, reference_images: inputImages.slice(1).map((url) => ({ url })) };
  }
}

/** Unknown status values and an empty body (202) are treated as running. */
function readState(body: Members): JobState {
  const status = textOf(body['status'])?.toLowerCase() ?? null;
  if (status === 'done') return readDone(body);
  if (status === 'expired') return { kind: 'expired' };
  const error = readVendorError(body);
  if (status === 'failed' || (status === null && error !== null)) return readFailed(body, error);
  return { kind: 'running', progress: numberOf(body['progress']) };
}

function readDone(body: Members): JobState {
  const { url, respect_moderation: isAllowed } = membersOf(body['video']);
  // The vendor finishes a video that its moderation dislikes, keeps it, and bills it.
  if (isAllowed === false || url === '') {
    const text = textOf(body['block_reason']);
    return { kind: 'failed', errorClass: 'moderation', text, evidence: readEvidence(body) };
  }
  if (typeof url !== 'string') return { kind: 'failed', errorClass: 'invalid_response', text: null };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence: readEvidence(body) };
}

function readFailed(body: Members, error: VendorError | null): JobState {
  const blockReason = textOf(body['block_reason']);
  const text = error?.message ?? blockReason;
  if (blockReason !== null) return { kind: 'failed', errorClass: 'moderation', text };
  const refined = error === null ? undefined : refine(error);
  const errorClass = refined?.errorClass ?? meaningOf(CLASS_OF_CODE, error?.code) ?? 'transient';
  return { kind: 'failed', errorClass, text };
}

function readEvidence(body: Members): Evidence {
  const seconds = readVideoSeconds(membersOf(body['video'])['duration']);
  const vendorCost = readCost(membersOf(body['usage'])['cost_in_usd_ticks']);
  return {
    ...(seconds === null ? {} : { seconds }),
    ...(vendorCost === null ? {} : { vendorCost }),
  };
}

function readCost(ticks: unknown): MicroCredits | null {
  if (typeof ticks !== 'number' || !Number.isSafeInteger(ticks) || ticks < 0) return null;
  return divideRoundingUp(BigInt(ticks), TICKS_PER_MICRO_CREDIT);
}

/** xAI answers a wrong key with 400 and a missing balance with 403 or 429, so only the words tell. */
function refine({ code, message }: VendorError): Verdict | undefined {
  const words = `${code ?? ''} ${message ?? ''}`.toLowerCase();
  if (/content moderation|usage guidelines|content policy/.test(words))
    return { errorClass: 'moderation', fate: 'refused' };
  if (/incorrect api key|invalid api key/.test(words)) return { errorClass: 'auth', fate: 'not_received' };
  if (/(any|no|available|insufficient|more) credits|spending limit/.test(words))
    return { errorClass: 'quota', fate: 'not_received' };
  return undefined;
}

function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}
