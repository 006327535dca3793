// Kling's older, flat API: /v1/videos/{kind}, one path for text and one for images.
import type { JsonValue } from '../../domain/json.ts';
import type { Evidence } from '../../domain/pricing.ts';
import { classOfMessage, costOfUnits, readBilledSeconds } from './answers.ts';
import { externalIdOf, type KlingVariant } from './variant.ts';
import { jobIdOf } from '../accepted-job.ts';
import type { JobState, UpstreamJob } from '../provider.ts';
import type { JsonObject } from '../http/json-api.ts';
import { listOf, membersOf, textOf, type Members } from '../http/json-fields.ts';

export const klingLegacy: KlingVariant = {
  name: 'legacy',
  submitPath: (job) => `/v1/videos/${kindOf(job)}`,
  requestBody,
  detailsOf: (job) => ({ kind: kindOf(job) }),
  pollPath: ({ id, kind }) => `/v1/videos/${readKind(kind)}/${encodeURIComponent(id)}`,
  lookUpPath: (job) => `/v1/videos/${kindOf(job)}/${encodeURIComponent(externalIdOf(job))}`,
  tasksIn: (data) => [membersOf(data)],
  idOf: (task) => jobIdOf(task['task_id']),
  externalIdOf: (task) => textOf(membersOf(task['task_info'])['external_task_id']),
  readState,
};

/** The vendor's mode for each resolution. */
const MODES: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' };

type Kind = 'text2video' | 'image2video';

function kindOf({ inputImages }: UpstreamJob): Kind {
  return inputImages.length > 0 ? 'image2video' : 'text2video';
}

function readKind(kind: unknown): Kind {
  return kind === 'image2video' ? kind : 'text2video';
}

function requestBody(job: UpstreamJob, images: readonly string[]): JsonObject {
  const { order } = job;
  const [first, last] = images;
  const body: Record<string, JsonValue> = {
    model_name: job.upstreamModel,
    prompt: job.prompt,
    duration: String(order.seconds),
    external_task_id: externalIdOf(job),
  };
  if (job.negativePrompt !== null) body['negative_prompt'] = job.negativePrompt;
  const mode = MODES[order.resolution ?? ''];
  if (mode !== undefined) body['mode'] = mode;
  if (order.audio !== null) body['sound'] = order.audio ? 'on' : 'off';
  // A video that begins with an image has the image's ratio.
  if (first === undefined && order.ratio !== null) body['aspect_ratio'] = order.ratio;
  if (first !== undefined) body['image'] = first;
  if (last !== undefined) body['image_tail'] = last;
  return body;
}

/** Unknown status values are treated as running. */
function readState(task: Members): JobState {
  switch (task['task_status']) {
    case 'submitted':
      return { kind: 'queued' };
    case 'succeed':
    case 'succeeded':
      return readDone(task);
    case 'failed': {
      const text = textOf(task['task_status_msg']);
      return { kind: 'failed', errorClass: classOfMessage(text), text };
    }
    default:
      return { kind: 'running', progress: null };
  }
}

function readDone(task: Members): JobState {
  const [video] = listOf(membersOf(task['task_result'])['videos']).map(membersOf);
  const url = textOf(video?.['url']);
  if (url === null) return { kind: 'failed', errorClass: 'invalid_response', text: null };
  const seconds = readBilledSeconds(video?.['duration']);
  const vendorCost = costOfUnits(task['final_unit_deduction']);
  const evidence: Evidence = {
    ...(seconds === null ? {} : { seconds }),
    ...(vendorCost === null ? {} : { vendorCost }),
  };
  return { kind: 'succeeded', results: [{ kind: 'url', url }], evidence };
}
