/** What DashScope's Wan models accept; everything else is refused, naming the field. */

import { EarlyAnswer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import { type Fields, isFields } from '../requests.ts';
import { checkMedia } from './media.ts';
import { type WanLimits } from './limits.ts';

export interface WanOrder {
  readonly model: string;
  readonly resolution: string;
  readonly ratio: string;
  readonly duration: number;
  readonly audio: boolean;
  readonly inputVideos: number;
}

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16'];
const PARAMETERS = ['resolution', 'duration', 'prompt_extend', 'seed', 'watermark', 'enable_thinking'];
const FRAMES = { first_frame: 1, last_frame: 1 };
/** The vendor's own client adds the second and third, which mean nothing here. */
const PROMPT = ['prompt', 'extend_prompt', 'function'];
const INPUT = [...PROMPT, 'media'];

const THIRD: WanLimits = {
  durations: [2, 30],
  resolutions: ['480P', '720P', '1080P'],
  ratios: [...RATIOS, 'adaptive'],
  media: { ...FRAMES, reference_image: 10, reference_video: 5, reference_audio: 5, file: 1, link: 1 },
  needsFrame: false,
  input: INPUT,
  parameters: [...PARAMETERS, 'ratio', 'audio'],
  chooses: true,
};
const SECOND: WanLimits = {
  ...THIRD,
  durations: [2, 15],
  resolutions: ['720P', '1080P'],
  ratios: RATIOS,
  media: {},
  input: [...PROMPT, 'negative_prompt', 'audio_url'],
  parameters: [...PARAMETERS, 'ratio'],
  chooses: false,
};

const MODELS: Readonly<Record<string, WanLimits>> = {
  'wan3.0-video': THIRD,
  'wan3.0-video-prime': THIRD,
  'wan2.7-t2v': SECOND,
  'wan2.7-i2v': {
    ...SECOND,
    ratios: [],
    media: { ...FRAMES, driving_audio: 1, first_clip: 1 },
    needsFrame: true,
    input: [...INPUT, 'negative_prompt'],
    parameters: PARAMETERS,
  },
};

const SECONDS_ALTOGETHER_MAX = 30;
/** As long as the sandbox takes every input video to be. */
export const INPUT_VIDEO_SECONDS = 5;
const SEED_MAX = 2_147_483_647;
const PROMPT_CHARACTERS_MAX = 5_000;

export function checkOrder(request: SandboxRequest, fields: Fields): WanOrder {
  refuseUnknown(request, '', fields, ['model', 'input', 'parameters']);
  const model = typeof fields['model'] === 'string' ? fields['model'] : '';
  const limits = limitsOf(request, model);
  const input = isFields(fields['input'])
    ? fields['input']
    : refuse(request, 'input', 'An object is required.');
  const parameters = isFields(fields['parameters']) ? fields['parameters'] : {};
  refuseUnknown(request, 'input.', input, limits.input);
  refuseUnknown(request, 'parameters.', parameters, limits.parameters);
  checkPrompt(request, input['prompt']);
  checkRest(request, parameters);
  const inputVideos = checkMedia(request, input['media'] ?? [], limits);
  const duration = durationOf(request, parameters['duration'] ?? 5, limits, inputVideos);
  return {
    model,
    duration,
    resolution: oneOf(request, 'resolution', parameters['resolution'] ?? '1080P', limits.resolutions),
    ratio: limits.ratios.length === 0 ? '16:9' : ratioOf(request, parameters['ratio'], limits.ratios),
    audio: parameters['audio'] !== false,
    inputVideos,
  };
}

function limitsOf(request: SandboxRequest, model: string): WanLimits {
  const limits = MODELS[model.replace(/-\d{4}-\d{2}-\d{2}$/, '')];
  if (limits === undefined) throw new EarlyAnswer(request.voice.refuse(404, { field: 'model' }));
  return limits;
}

function checkPrompt(request: SandboxRequest, prompt: unknown): void {
  if (typeof prompt !== 'string' || prompt.trim() === '')
    refuse(request, 'input.prompt', 'A text is required.');
  if (prompt.length > PROMPT_CHARACTERS_MAX) {
    refuse(request, 'input.prompt', `At most ${PROMPT_CHARACTERS_MAX} characters.`);
  }
}

function checkRest(request: SandboxRequest, parameters: Fields): void {
  for (const field of ['audio', 'prompt_extend', 'watermark', 'enable_thinking']) {
    const value = parameters[field];
    if (value !== undefined && typeof value !== 'boolean') refuse(request, field, 'Must be a boolean.');
  }
  const seed = parameters['seed'] ?? 0;
  if (typeof seed !== 'number' || !Number.isInteger(seed) || seed < 0 || seed > SEED_MAX) {
    refuse(request, 'seed', `Must be a whole number from 0 to ${SEED_MAX}.`);
  }
}

function ratioOf(request: SandboxRequest, ratio: unknown, ratios: readonly string[]): string {
  const known = oneOf(request, 'ratio', ratio ?? '16:9', ratios);
  return known === 'adaptive' ? '16:9' : known;
}

function durationOf(
  request: SandboxRequest,
  duration: unknown,
  limits: WanLimits,
  inputVideos: number,
): number {
  const [min, max] = limits.durations;
  const left = Math.min(max, SECONDS_ALTOGETHER_MAX - inputVideos * INPUT_VIDEO_SECONDS);
  if (duration === -1 && limits.chooses) return left;
  if (typeof duration === 'number' && Number.isInteger(duration) && duration >= min && duration <= left) {
    return duration;
  }
  return refuse(request, 'duration', `Must be a whole number from ${min} to ${left}.`);
}

function refuseUnknown(
  request: SandboxRequest,
  prefix: string,
  fields: Fields,
  known: readonly string[],
): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(request, `${prefix}${unknown}`, 'This parameter is not supported.');
}

function oneOf(request: SandboxRequest, field: string, value: unknown, values: readonly string[]): string {
  const known = values.find((candidate) => candidate === value);
  return known ?? refuse(request, field, `Must be one of ${values.join(', ')}.`);
}

function refuse(request: SandboxRequest, field: string, message: string): never {
  throw new EarlyAnswer(request.voice.refuse(400, { field, message }));
}
