// Adapter for Kling: two APIs, told apart by the model, and an id of ours by which the vendor knows a job again.
import type { JobHandle } from '../../domain/jobs.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { UpstreamRequest } from '../http/client.ts';
import { callKling, saysDuplicate } from './answers.ts';
import { externalIdOf, type KlingVariant } from './variant.ts';
import { klingLegacy } from './legacy.ts';
import { klingThree } from './three.ts';
import { createAuthorizer, type Authorize } from './token.ts';
import {
  UpstreamFailure,
  type JobState,
  type LookUp,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { membersOf } from '../http/json-fields.ts';
import { credentialIds, findCredential, originCheck, type AdapterSettings } from '../settings.ts';

export const NAME = 'kling';
export const FAMILY = 'kling';

const ANSWER_BYTES_MAX = 1024 * 1024;
/** What the vendor took is surely listed after so long. */
const LISTED_AFTER_MS = 4_000;

interface Context {
  settings: AdapterSettings;
  authorize: Authorize;
  now: () => number;
}

/** The vendor has no cancel. `now` is in milliseconds. */
export function createKling(settings: AdapterSettings, now: () => number = Date.now): Provider {
  const context = { settings, authorize: createAuthorizer(now), now };
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentials: credentialIds(settings),
    submit: (job) => submit(context, job),
    poll: (handle, signal) => poll(context, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(context, job, sentAt, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

/** Models before 3.0 have a `v` before their number. */
function variantOf(upstreamModel: string): KlingVariant {
  return /^kling-v\d/.test(upstreamModel) ? klingLegacy : klingThree;
}

async function submit(context: Context, job: UpstreamJob): Promise<Submission> {
  const variant = variantOf(job.upstreamModel);
  const images = job.inputImages.map(asVendorTakesIt);
  const { path, body } = variant.order(job, images);
  try {
    const call = callTo(context, job.credential, { path, body });
    const { data, upstreamRequestId } = await callKling(call, 'submission');
    const id = variant.idOf(membersOf(data));
    if (id === null) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
    return { kind: 'accepted', handle: handleOf(variant, job, id), upstreamRequestId };
  } catch (error) {
    if (error instanceof UpstreamFailure && saysDuplicate(error)) return findEarlier(context, job, error);
    throw error;
  }
}

/** An earlier try had arrived after all: its job is the one. */
async function findEarlier(
  context: Context,
  job: UpstreamJob,
  refusal: UpstreamFailure,
): Promise<Submission> {
  const earlier = await lookUp(context, job, new Date(0)).catch(() => null);
  if (earlier?.kind === 'found')
    return { kind: 'accepted', handle: earlier.handle, upstreamRequestId: refusal.upstreamRequestId };
  // It names our id and yet does not list it: the list lags behind. Anything else is a refusal like any other.
  if (earlier?.kind === 'absent' && !/external.?task/i.test(refusal.text ?? '')) throw refusal;
  throw new UpstreamFailure('transient', 'unknown', { cause: refusal });
}

async function poll(context: Context, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const variant = handle['dialect'] === klingLegacy.name ? klingLegacy : klingThree;
  const call = callTo(context, handle.credential, { path: variant.pollPath(handle), signal });
  const { data } = await callKling(call, 'job');
  const task = variant.tasksIn(data).find((candidate) => variant.idOf(candidate) === handle.id);
  if (!task) throw new UpstreamFailure('expired', 'refused');
  return variant.readState(task);
}

/**
 * Asks by our own id, which is unique per account. `absent` is safe at once where there is one account only, since that
 * refuses a second job of the same id; among several, the next try may go to another one.
 */
async function lookUp(
  context: Context,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const variant = variantOf(job.upstreamModel);
  const tasks = await findTasks(context, job, signal);
  if (tasks.length === 0) {
    const isSure =
      context.settings.credentials.length === 1 || context.now() - sentAt.getTime() >= LISTED_AFTER_MS;
    return { kind: isSure ? 'absent' : 'unclear' };
  }
  const [task] = tasks;
  const id = task && variant.idOf(task);
  const isOurs = task && (variant.externalIdOf(task) ?? externalIdOf(job)) === externalIdOf(job);
  if (tasks.length > 1 || !id || !isOurs) return { kind: 'unclear' };
  return { kind: 'found', handle: handleOf(variant, job, id) };
}

async function findTasks(context: Context, job: UpstreamJob, signal?: AbortSignal) {
  const variant = variantOf(job.upstreamModel);
  try {
    const call = callTo(context, job.credential, { path: variant.lookUpPath(job), signal });
    const { data } = await callKling(call, 'job');
    return variant.tasksIn(data);
  } catch (error) {
    if (error instanceof UpstreamFailure && error.errorClass === 'expired') return [];
    throw error;
  }
}

function handleOf(variant: KlingVariant, job: UpstreamJob, id: string): JobHandle {
  return { id, credential: job.credential, dialect: variant.name, ...variant.detailsOf(job) };
}

function callTo(
  { settings, authorize }: Context,
  credentialId: string,
  request: { path: string; body?: Record<string, JsonValue>; signal?: AbortSignal | undefined },
): UpstreamRequest {
  const authorization = authorize(findCredential(settings, credentialId));
  const call = {
    url: `${settings.baseUrl}${request.path}`,
    timeoutMs: settings.upstreamTimeoutMs,
    bytesMax: ANSWER_BYTES_MAX,
    signal: request.signal,
  };
  if (!request.body) return { ...call, method: 'GET', headers: authorization };
  const headers = { ...authorization, 'content-type': 'application/json' };
  return { ...call, method: 'POST', headers, body: JSON.stringify(request.body) };
}

/** A URL as it is; of a data URI, the base64 alone. */
function asVendorTakesIt(image: string): string {
  return /^data:/i.test(image) ? image.slice(image.indexOf(',') + 1) : image;
}
