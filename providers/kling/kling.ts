// Adapter for Kling's videos: two APIs, distinguished by the model, and an external id by which jobs can be
// found.
import type { JobHandle } from '../../domain/jobs.ts';
import { acceptedJob } from '../accepted-job.ts';
import { createJsonApi, type JsonApi } from '../http/json-api.ts';
import { membersOf, type Members } from '../http/json-fields.ts';
import {
  UpstreamFailure,
  type JobState,
  type LookUp,
  type Provider,
  type Submission,
  type UpstreamJob,
} from '../provider.ts';
import { originCheck, type AdapterSettings } from '../settings.ts';
import { isDuplicate, sendToKling } from './answers.ts';
import { klingLegacy } from './legacy.ts';
import { klingThree } from './three.ts';
import { createAuthorizer, isKeyPair } from './token.ts';
import { externalIdOf, type KlingVariant } from './variant.ts';

export const NAME = 'kling';
export const FAMILY = 'kling';

/** A job that the vendor took is listed after this time at the latest. */
const LISTED_AFTER_MS = 4_000;

interface Context {
  api: JsonApi;
  hasOneCredential: boolean;
  now: () => number;
}

/** The vendor has no cancel. `now` is in milliseconds. */
export function createKling(settings: AdapterSettings, now: () => number = Date.now): Provider {
  const api = createJsonApi(settings, createAuthorizer(now));
  const context = { api, hasOneCredential: settings.credentials.length === 1, now };
  return {
    name: NAME,
    family: FAMILY,
    delivery: 'job',
    credentialsFor: (model) => credentialsFor(settings, model),
    submit: (job) => submit(context, job),
    poll: (handle, signal) => poll(context, handle, signal),
    lookUp: (job, sentAt, signal) => lookUp(context, job, sentAt, signal),
    trustsOrigin: originCheck(settings.baseUrl),
  };
}

async function submit(context: Context, job: UpstreamJob): Promise<Submission> {
  const variant = variantOf(job.upstreamModel);
  const path = variant.submitPath(job);
  const json = variant.requestBody(job, job.inputImages.map(toKlingImage));
  const request = { method: 'POST', path, credential: job.credential, json } as const;
  try {
    const { data, upstreamRequestId } = await sendToKling(context.api, request, 'submission');
    return acceptedJob(job, variant.idOf(membersOf(data)), upstreamRequestId, handleDetails(variant, job));
  } catch (error) {
    if (error instanceof UpstreamFailure && isDuplicate(error)) return findEarlier(context, job, error);
    throw error;
  }
}

/** The job of an earlier try, which had arrived after all. Throws when it cannot be found. */
async function findEarlier(
  context: Context,
  job: UpstreamJob,
  refusal: UpstreamFailure,
): Promise<Submission> {
  const earlier = await lookUp(context, job, new Date(0)).catch(() => null);
  if (earlier?.kind === 'found')
    return { kind: 'accepted', handle: earlier.handle, upstreamRequestId: refusal.upstreamRequestId };
  // A refusal that names our id for a job that is not listed means that the list lags behind.
  if (earlier?.kind === 'absent' && !/external.?task/i.test(refusal.text ?? '')) throw refusal;
  throw new UpstreamFailure('transient', 'unknown', { cause: refusal });
}

async function poll({ api }: Context, handle: JobHandle, signal?: AbortSignal): Promise<JobState> {
  const variant = handle['dialect'] === klingLegacy.name ? klingLegacy : klingThree;
  const { credential } = handle;
  const path = variant.pollPath(handle);
  const { data } = await sendToKling(api, { method: 'GET', path, credential, signal }, 'job');
  const task = variant.tasksIn(data).find((candidate) => variant.idOf(candidate) === handle.id);
  if (!task) throw new UpstreamFailure('expired', 'refused');
  return variant.readState(task);
}

/**
 * Looks for the job by its external id, which is unique per account. `absent` is certain at once where there
 * is one account only, since that refuses a second job of the same id; among several, the next try may go to
 * another one.
 */
async function lookUp(
  context: Context,
  job: UpstreamJob,
  sentAt: Date,
  signal?: AbortSignal,
): Promise<LookUp> {
  const variant = variantOf(job.upstreamModel);
  const [task, ...others] = await findTasks(context, variant, job, signal);
  if (!task) {
    const isCertain = context.hasOneCredential || context.now() - sentAt.getTime() >= LISTED_AFTER_MS;
    return { kind: isCertain ? 'absent' : 'unclear' };
  }
  const id = variant.idOf(task);
  const isOurs = (variant.externalIdOf(task) ?? externalIdOf(job)) === externalIdOf(job);
  if (others.length > 0 || id === null || !isOurs) return { kind: 'unclear' };
  return { kind: 'found', handle: { id, credential: job.credential, ...handleDetails(variant, job) } };
}

/** All tasks of the job's external id; none where the vendor does not know it. */
async function findTasks(
  { api }: Context,
  variant: KlingVariant,
  job: UpstreamJob,
  signal?: AbortSignal,
): Promise<readonly Members[]> {
  const path = variant.lookUpPath(job);
  try {
    const request = { method: 'GET', path, credential: job.credential, signal } as const;
    const { data } = await sendToKling(api, request, 'job');
    return variant.tasksIn(data);
  } catch (error) {
    if (error instanceof UpstreamFailure && error.errorClass === 'expired') return [];
    throw error;
  }
}

/**
 * A pair of access key and secret key serves the older API alone: the newer one answers it 401, code 1002.
 */
function credentialsFor({ credentials }: AdapterSettings, upstreamModel: string): string[] {
  const isOlder = variantOf(upstreamModel) === klingLegacy;
  return credentials.filter(({ key }) => isOlder || !isKeyPair(key)).map(({ id }) => id);
}

/** Models before 3.0 have a `v` before their number. */
function variantOf(upstreamModel: string): KlingVariant {
  return /^kling-v\d/.test(upstreamModel) ? klingLegacy : klingThree;
}

function handleDetails(variant: KlingVariant, job: UpstreamJob): Record<string, string> {
  return { dialect: variant.name, ...variant.detailsOf(job) };
}

/** The vendor takes a URL as it is, and of a data URI the base64 alone. */
function toKlingImage(image: string): string {
  return /^data:/i.test(image) ? image.slice(image.indexOf(',') + 1) : image;
}
