// Gemini Omni (Google) on the Gemini API: an interaction in the background, then the video in the answer.

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import { reportUsage } from '../evidence.ts';
import {
  isBareBase64,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
  requireWhole,
} from '../field-checks.ts';
import type { Job } from '../jobs.ts';
import { nextDirectives, pollJob, requireJob, UNKNOWN_STATUS } from '../polling.ts';
import { type Fields, isFields, objectsIn, readJsonObject, refuse, textIn } from '../requests.ts';
import { inlineResult, sendInline } from '../results.ts';
import { beginSubmission, confirmSubmission, createJob } from '../submissions.ts';
import type { SandboxRequest, VendorApi } from '../vendor-api.ts';
import { requireGoogleKey } from './api-key.ts';
import { googleErrorFormat } from './error-format.ts';
import { wordUnknownField } from './unknown-field.ts';
import { videoOf } from './veo-operation.ts';

const PATH = '/{version}/interactions';

export const geminiOmni: VendorApi = {
  vendor: 'gemini-omni',
  prefix: '/google',
  errorFormat: googleErrorFormat,
  routes: [
    { method: 'POST', path: PATH, operation: 'submit', handle: create },
    { method: 'GET', path: `${PATH}/{id}`, operation: 'poll', handle: poll },
    { method: 'POST', path: `${PATH}/{id}/cancel`, operation: 'cancel', handle: cancel },
  ],
};

const SECONDS_BY_DEFAULT = 2;
const MODELS = ['gemini-omni-1.1-flash'];
const FIELDS = ['model', 'input', 'response_format', 'generation_config', 'background', 'store', 'stream'];
const FORMAT_FIELDS = ['type', 'duration', 'delivery', 'resolution', 'aspect_ratio'];
const RESOLUTIONS = ['360p', '720p', '1080p', '4k'];
const RATIOS = ['16:9', '9:16'];
const DURATION = { min: 3, max: 10, byDefault: 10 };
const TASKS = ['text_to_video', 'image_to_video', 'reference_to_video', 'edit', 'extend', 'upscale'];
const IMAGES_MAX = { text_to_video: 0, image_to_video: 1, reference_to_video: 10 } as const;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];
const PROMPT_CHARACTERS_MAX = 20_000;
/** Tokens of a second of video, of which Google bills each at $17.50 per million. */
const TOKENS_PER_SECOND: Readonly<Record<string, number>> = {
  '360p': 1_931,
  '720p': 5_792,
  '1080p': 8_688,
  '4k': 17_376,
};

const FAILURES = {
  internal: 'Video generation failed due to an internal server issue.',
  invalid: 'The input image could not be decoded.',
  quota: 'Your project has exceeded its spending cap.',
  concurrency: 'Too many concurrent requests of this project.',
  moderation: "The prompt contains sensitive words that violate Google's Responsible AI practices.",
} as const;
const FILTERED = "I can't make that video, since it might violate Google's Responsible AI practices.";

function create(request: SandboxRequest): Answer {
  const fields = readJsonObject(request);
  const parts = inputOf(fields);
  const prompt = parts.map((part) => textIn(part, 'text')).join('');
  const submission = beginSubmission(request, prompt, requireGoogleKey);
  const ordered = checkOrder(request, fields, parts, prompt);
  const job = createJob(submission, {
    id: `v1_${randomUUID().replaceAll('-', '')}`,
    secondsByDefault: SECONDS_BY_DEFAULT,
    ordered,
    consumption: { tokens: ordered.seconds * (TOKENS_PER_SECOND[ordered.resolution] ?? 0) },
  });
  const { id: _id, ...withoutId } = interactionOf(job, 'in_progress');
  return confirmSubmission(submission, json(200, interactionOf(job, 'in_progress')), json(200, withoutId));
}

/** A text alone, or a list of contents, which may be wrapped in steps of the user. */
function inputOf({ input }: Fields): Fields[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }];
  return objectsIn(input).flatMap((part) =>
    part['type'] === 'user_input' ? objectsIn(part['content']) : [part],
  );
}

function checkOrder(request: SandboxRequest, fields: Fields, parts: readonly Fields[], prompt: string) {
  const model = textIn(fields, 'model').replace(/^models\//, '');
  if (!MODELS.includes(model)) refuse(request, 404);
  refuseUnknown(request, fields, FIELDS, '', wordUnknownField);
  if (fields['background'] !== true)
    refuseField(request, 'background', 'The sandbox plays interactions in the background only.');
  requireText(request, 'input', prompt, PROMPT_CHARACTERS_MAX);
  const format = isFields(fields['response_format']) ? fields['response_format'] : { type: 'video' };
  refuseUnknown(request, format, FORMAT_FIELDS, 'response_format.', wordUnknownField);
  requireOneOf(request, 'response_format.type', format['type'], ['video']);
  requireOneOf(request, 'response_format.delivery', format['delivery'] ?? 'inline', ['inline', 'uri']);
  const { resolution = '720p', aspect_ratio: ratio = '16:9' } = format;
  return {
    model,
    inputImages: checkImages(request, parts, taskOf(request, fields, parts)),
    seconds: durationOf(request, format['duration']),
    resolution: requireOneOf(request, 'response_format.resolution', resolution, RESOLUTIONS),
    aspectRatio: requireOneOf(request, 'response_format.aspect_ratio', ratio, RATIOS),
  };
}

function taskOf(request: SandboxRequest, fields: Fields, parts: readonly Fields[]): string {
  const config = isFields(fields['generation_config']) ? fields['generation_config'] : {};
  refuseUnknown(request, config, ['video_config', 'seed'], 'generation_config.', wordUnknownField);
  const video = isFields(config['video_config']) ? config['video_config'] : {};
  const byInput = parts.some(({ type }) => type === 'image') ? 'image_to_video' : 'text_to_video';
  return requireOneOf(request, 'generation_config.video_config.task', video['task'] ?? byInput, TASKS);
}

function checkImages(request: SandboxRequest, parts: readonly Fields[], task: string): number {
  const images = parts.filter(({ type }) => type === 'image');
  for (const { data, mime_type: type } of images) {
    requireOneOf(request, 'input.mime_type', type, IMAGE_TYPES);
    if (!isBareBase64(data)) refuseField(request, 'input.data', 'The image needs data in base64.');
  }
  const max = Object.entries(IMAGES_MAX).find(([name]) => name === task)?.[1] ?? 0;
  if (images.length > max) refuseField(request, 'input', `There may be ${max} images for ${task}.`);
  if (images.length === 0 && max > 0) refuseField(request, 'input', `${task} needs an image.`);
  return images.length;
}

function durationOf(request: SandboxRequest, value: unknown): number {
  if (value === undefined) return DURATION.byDefault;
  const field = 'response_format.duration';
  const seconds = typeof value === 'string' ? /^(\d{1,3})s$/.exec(value)?.[1] : undefined;
  if (seconds === undefined) refuseField(request, field, 'The duration is a text such as "8s".');
  const { min, max } = DURATION;
  requireWhole(request, field, Number(seconds), { min, max });
  return Number(seconds);
}

function poll(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const { state, hasUnknownStatus } = pollJob(request, job);
  if (hasUnknownStatus) return json(200, interactionOf(job, UNKNOWN_STATUS));
  switch (state.phase) {
    case 'queued':
    case 'cancelled':
      return json(200, interactionOf(job, state.phase));
    case 'running':
      return json(200, interactionOf(job, 'in_progress'));
    case 'succeeded':
      return delivered(request, job);
    case 'moderated':
      return json(200, completed(job, [{ type: 'text', text: errorText(FILTERED, job.text) }]));
    case 'expired':
      return request.errorFormat.refuse(404, { message: 'Interaction not found.', text: job.text });
    case 'failed': {
      const message = errorText(FAILURES[job.reason], job.text);
      return json(200, { ...interactionOf(job, 'failed'), errors: [{ code: job.reason, message }] });
    }
  }
}

function delivered(request: SandboxRequest, job: Job): Answer {
  const result = nextDirectives(request, job, 'result').choose('result');
  const data = inlineResult(result, videoOf(job));
  const videos = Array.from({ length: job.deliver ?? 1 }, () => ({
    type: 'video',
    mime_type: 'video/mp4',
    data,
  }));
  return sendInline(result, json(200, completed(job, videos)), data);
}

function completed(job: Job, content: readonly object[]): object {
  const reported = reportUsage(job.consumption, job.usage);
  const { tokens } = typeof reported === 'object' ? reported : {};
  const usage = {
    total_output_tokens: tokens,
    output_tokens_by_modality: [{ modality: 'video', tokens }],
  };
  const steps = [
    { type: 'user_input', content: [{ type: 'text', text: job.prompt }] },
    { type: 'model_output', content },
  ];
  return { ...interactionOf(job, 'completed'), steps, usage };
}

function cancel(request: SandboxRequest): Answer {
  requireGoogleKey(request);
  const job = requireJob(request, request.parameters['id'] ?? '');
  const directive = nextDirectives(request, job, 'cancel').choose('cancel');
  if (directive === 'hang') return { kind: 'hang' };
  const { phase } = request.jobs.stateOf(job);
  if (directive === 'too_late' || (phase !== 'queued' && phase !== 'running')) {
    const message = 'Only an interaction in progress can be cancelled.';
    return request.errorFormat.refuse(400, { message, text: job.text });
  }
  request.jobs.cancel(job);
  return json(200, interactionOf(job, 'cancelled'));
}

function interactionOf(job: Job, status: string): { id: string } & Fields {
  const created = new Date(job.createdAtMs).toISOString();
  return {
    id: job.id,
    object: 'interaction',
    model: job.ordered['model'],
    status,
    created,
    updated: created,
  };
}
