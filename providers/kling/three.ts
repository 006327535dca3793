// Kling's API since 3.0: the model is part of the path, and one list answers for all tasks.
import type { MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { classOfMessage, costOfDollars, costOfUnits, readBilledSeconds } from './answers.ts';
import { externalIdOf, type KlingVariant } from './variant.ts';
import { jobIdOf } from '../accepted-job.ts';
import type { JobState, UpstreamJob } from '../provider.ts';
import type { JsonObject } from '../http/json-api.ts';
import { beginsWithFrame, frameRole } from '../image-roles.ts';
import { listOf, membersOf, textOf, type Members } from '../http/json-fields.ts';

export const klingThree: KlingVariant = {
  name: '3',
  submitPath: (job) => `/${kindOf(job)}/${job.upstreamModel}`,
  requestBody,
  detailsOf: () => ({}),
  pollPath: ({ id }) => `/tasks?task_ids=${encodeURIComponent(id)}`,
  lookUpPath: (job) => `/tasks?external_task_ids=${encodeURIComponent(externalIdOf(job))}`,
  tasksIn: (data) => (Array.isArray(data) ? data.map(membersOf) : [membersOf(data)]),
  idOf: (task) => jobIdOf(task['id']),
  externalIdOf: (task) => textOf(task['external_id']) ?? textOf(task['external_task_id']),
  readState,
};

function kindOf({ upstreamModel, inputImages }: UpstreamJob): string {
  if (upstreamModel.endsWith('-omni')) return 'omni-video';
  return inputImages.length > 0 ? 'image-to-video' : 'text-to-video';
}

function requestBody(job: UpstreamJob, images: readonly string[]): JsonObject {
  const { order, prompt } = job;
  const settings: Record<string, JsonValue> = { duration: order.seconds, multi_shot: needsShots(job) };
  if (order.resolution !== null) settings['resolution'] = order.resolution;
  if (order.ratio !== null && !beginsWithFrame(order)) settings['aspect_ratio'] = order.ratio;
  // The turbo model always has sound and no field for it.
  if (order.audio !== null && !job.upstreamModel.endsWith('-turbo'))
    settings['audio'] = order.audio ? 'native' : 'off';
  const options = { external_task_id: externalIdOf(job) };
  if (kindOf(job) === 'text-to-video') return { prompt, settings, options };
  return { contents: contentsOf(job, images), settings, options };
}

/** With a feature video the vendor's page wants `multi_shot` true (page on omni videos, 2026-09-20). */
function needsShots({ inputVideos }: UpstreamJob): boolean {
  return inputVideos.length > 0;
}

function contentsOf(job: UpstreamJob, images: readonly string[]): JsonValue[] {
  const { order, prompt, inputVideos } = job;
  return [
    { type: 'prompt', text: prompt },
    ...images.map((url, index) => ({ type: frameRole(order, index) ?? 'refer_image', url })),
    ...inputVideos.map((url) => ({ type: 'feature_video', url })),
  ];
}

/** Unknown status values are treated as running. */
function readState(task: Members): JobState {
  switch (task['status']) {
    case 'submitted':
      return { kind: 'queued' };
    case 'succeed':
    case 'succeeded':
      return readDone(task);
    case 'failed': {
      const text = textOf(task['message']);
      return { kind: 'failed', errorClass: classOfMessage(text), text };
    }
    default:
      return { kind: 'running', progress: null };
  }
}

function readDone(task: Members): JobState {
  const outputs = listOf(task['outputs']).map(membersOf);
  const video =
    outputs.find(({ type }) => type === 'video') ?? outputs.find(({ type }) => type === undefined);
  const url = textOf(video?.['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  const seconds = readBilledSeconds(video?.['duration']);
  const vendorCost = readCost(listOf(task['billing']).map(membersOf));
  const evidence: Evidence = {
    ...(seconds === null ? {} : { seconds }),
    ...(vendorCost === null ? {} : { vendorCost }),
  };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence };
}

/** The sum of all parts, which are paid in units or in cash; null if one of them cannot be read. */
function readCost(parts: readonly Members[]): MicroCredits | null {
  const costs = parts.map(({ charge_type: type, amount, currency }) => {
    if (type === 'unit') return costOfUnits(amount);
    return type === 'cash' && currency === 'USD' ? costOfDollars(amount) : null;
  });
  let sum = 0n;
  for (const cost of costs) {
    if (cost === null) return null;
    sum += cost;
  }
  return costs.length === 0 ? null : sum;
}
