// Checks an order of a Wan video: refuses what DashScope would not accept and names the field.

import { checkLength, isWholeWithin, refuseField, refuseUnknown } from '../field-checks.ts';
import { countCodePoints, type Fields, isFields, refuse, textIn } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import type { WanLimits } from './limits.ts';
import { checkMedia } from './media.ts';

/** Assumed length of every input video, which the sandbox does not look at. */
export const INPUT_VIDEO_SECONDS = 5;

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
/** The vendor's own client adds the last two, which have no effect here. */
const PROMPT_FIELDS = ['prompt', 'extend_prompt', 'function'];
const INPUT_FIELDS = [...PROMPT_FIELDS, 'media'];

const LIMITS_3_0: WanLimits = {
  durations: [2, 30],
  resolutions: ['480P', '720P', '1080P'],
  ratios: [...RATIOS, 'adaptive'],
  media: { ...FRAMES, reference_image: 10, reference_video: 5, reference_audio: 5, file: 1, link: 1 },
  imageFiles: {},
  needsFrame: false,
  input: INPUT_FIELDS,
  parameters: [...PARAMETERS, 'ratio', 'audio'],
  canChooseDuration: true,
};
const LIMITS_2_7: WanLimits = {
  ...LIMITS_3_0,
  durations: [2, 15],
  resolutions: ['720P', '1080P'],
  ratios: RATIOS,
  media: {},
  imageFiles: { bytesMax: 20_000_000, sidePixelsMin: 240, sidePixelsMax: 8_000, sidesRatioMax: 8 },
  input: [...PROMPT_FIELDS, 'negative_prompt', 'audio_url'],
  parameters: [...PARAMETERS, 'ratio'],
  canChooseDuration: false,
};

const MODELS: Readonly<Record<string, WanLimits>> = {
  'wan3.0-video': LIMITS_3_0,
  'wan3.0-video-prime': LIMITS_3_0,
  'wan2.7-t2v': LIMITS_2_7,
  'wan2.7-i2v': {
    ...LIMITS_2_7,
    ratios: [],
    media: { ...FRAMES, driving_audio: 1, first_clip: 1 },
    needsFrame: true,
    input: [...INPUT_FIELDS, 'negative_prompt'],
    parameters: PARAMETERS,
  },
  'wan2.7-r2v': {
    ...LIMITS_2_7,
    media: { first_frame: 1, reference_image: 5, reference_video: 5 },
    mixedMax: 5,
    input: [...INPUT_FIELDS, 'negative_prompt'],
  },
};

/** Limit of the seconds of input and output videos together. */
const TOTAL_SECONDS_MAX = 30;
const SEED_MAX = 2_147_483_647;
const PROMPT_CHARACTERS_MAX = 5_000;
const NEGATIVE_PROMPT_CHARACTERS_MAX = 500;

export function checkOrder(request: SandboxRequest, fields: Fields): WanOrder {
  refuseUnknown(request, fields, ['model', 'input', 'parameters'], '', wordUnknownField);
  const model = textIn(fields, 'model');
  const limits = limitsOf(request, model);
  const input = isFields(fields['input'])
    ? fields['input']
    : refuseField(request, 'input', 'An object is required.');
  const parameters = isFields(fields['parameters']) ? fields['parameters'] : {};
  refuseUnknown(request, input, limits.input, 'input.', wordUnknownField);
  refuseUnknown(request, parameters, limits.parameters, 'parameters.', wordUnknownField);
  checkPrompt(request, input['prompt']);
  checkLength(request, 'input.negative_prompt', input['negative_prompt'], NEGATIVE_PROMPT_CHARACTERS_MAX);
  checkFlagsAndSeed(request, parameters);
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
  if (limits === undefined) refuse(request, 404, { field: 'model' });
  return limits;
}

function checkPrompt(request: SandboxRequest, prompt: unknown): void {
  if (typeof prompt !== 'string' || prompt.trim() === '')
    refuseField(request, 'input.prompt', 'A text is required.');
  if (countCodePoints(prompt) > PROMPT_CHARACTERS_MAX) {
    refuseField(request, 'input.prompt', `At most ${PROMPT_CHARACTERS_MAX} characters.`);
  }
}

function checkFlagsAndSeed(request: SandboxRequest, parameters: Fields): void {
  for (const field of ['audio', 'prompt_extend', 'watermark', 'enable_thinking']) {
    const value = parameters[field];
    if (value !== undefined && typeof value !== 'boolean') refuseField(request, field, 'Must be a boolean.');
  }
  const seed = parameters['seed'] ?? 0;
  if (!isWholeWithin(seed, 0, SEED_MAX)) {
    refuseField(request, 'seed', `Must be a whole number from 0 to ${SEED_MAX}.`);
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
  const secondsMax = Math.min(max, TOTAL_SECONDS_MAX - inputVideos * INPUT_VIDEO_SECONDS);
  if (duration === -1 && limits.canChooseDuration) return secondsMax;
  if (isWholeWithin(duration, min, secondsMax)) return duration;
  return refuseField(request, 'duration', `Must be a whole number from ${min} to ${secondsMax}.`);
}

function wordUnknownField(): string {
  return 'This parameter is not supported.';
}

function oneOf(request: SandboxRequest, field: string, value: unknown, values: readonly string[]): string {
  const known = values.find((candidate) => candidate === value);
  return known ?? refuseField(request, field, `Must be one of ${values.join(', ')}.`);
}
