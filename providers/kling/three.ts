// Kling's API since 3.0: the model is part of the path, and one list answers for all tasks.
import type { MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { classOfWords, costOfDollars, costOfUnits, readSeconds } from './answers.ts';
import { externalIdOf, type KlingVariant } from './variant.ts';
import type { JobState, UpstreamJob } from '../provider.ts';
import { listOf, membersOf, textOf, type Members } from '../http/json-fields.ts';

export const klingThree: KlingVariant = {
  name: '3',
  order: (job, images) => ({ path: `/${kindOf(job)}/${job.upstreamModel}`, body: requestBody(job, images) }),
  detailsOf: () => ({}),
  pollPath: ({ id }) => `/tasks?task_ids=${encodeURIComponent(id)}`,
  lookUpPath: (job) => `/tasks?external_task_ids=${encodeURIComponent(externalIdOf(job))}`,
  tasksIn: (data) => (Array.isArray(data) ? data.map(membersOf) : [membersOf(data)]),
  idOf: (task) => textOf(task['id']),
  externalIdOf: (task) => textOf(task['external_id']) ?? textOf(task['external_task_id']),
  readState,
};

function kindOf({ upstreamModel, inputImages }: UpstreamJob): string {
  if (upstreamModel.endsWith('-omni')) return 'omni-video';
  return inputImages.length > 0 ? 'image-to-video' : 'text-to-video';
}

function requestBody(job: UpstreamJob, images: readonly string[]): Record<string, JsonValue> {
  const { order, prompt } = job;
  const settings: Record<string, JsonValue> = { duration: order.seconds, multi_shot: false };
  if (order.resolution !== null) settings['resolution'] = order.resolution;
  const followsImage = order.imageRole === 'first_frame' || order.imageRole === 'first_and_last_frame';
  if (order.ratio !== null && !followsImage) settings['aspect_ratio'] = order.ratio;
  // The turbo model always has sound and no member to say so.
  if (order.audio !== null && !job.upstreamModel.endsWith('-turbo'))
    settings['audio'] = order.audio ? 'native' : 'off';
  const options = { external_task_id: externalIdOf(job) };
  if (kindOf(job) === 'text-to-video') return { prompt, settings, options };
  return { contents: contentsOf(job, images), settings, options };
}

function contentsOf(job: UpstreamJob, images: readonly string[]): JsonValue[] {
  const { order, prompt, inputVideos } = job;
  const frames = ['first_frame', 'last_frame'];
  return [
    { type: 'prompt', text: prompt },
    ...images.map((url, index) => {
      const type = order.imageRole === 'references' ? undefined : frames[index];
      return { type: type ?? 'refer_image', url };
    }),
    ...inputVideos.map((url) => ({ type: 'feature_video', url })),
  ];
}

/** A word nobody has heard of means: still at work. */
function readState(task: Members): JobState {
  switch (task['status']) {
    case 'submitted':
      return { kind: 'queued' };
    case 'succeed':
    case 'succeeded':
      return readDone(task);
    case 'failed': {
      const text = textOf(task['message']);
      return { kind: 'failed', errorClass: classOfWords(text), text };
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
  const seconds = readSeconds(video?.['duration']);
  const vendorCost = readCost(listOf(task['billing']).map(membersOf));
  const evidence: Evidence = {
    ...(seconds === null ? {} : { seconds }),
    ...(vendorCost === null ? {} : { vendorCost }),
  };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence };
}

/** A task may be paid in parts, by units and by cash. One part that cannot be read makes the sum worthless. */
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
