/** What Ark's video generation accepts, by model; everything else is refused, naming the field. */

import { EarlyAnswer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import type { Fields } from '../requests.ts';
import { type Inputs, readContent, textsOf } from './content.ts';

export interface SeedanceOrder {
  readonly model: string;
  readonly resolution: string;
  readonly ratio: string;
  readonly duration: number;
  readonly seed: number;
  readonly generateAudio: boolean | null;
  readonly inputImages: number;
  readonly inputVideos: number;
}

interface ModelLimits {
  readonly durations: readonly [min: number, max: number];
  readonly resolutions: readonly string[];
  readonly images: number;
  readonly videos: number;
  readonly lastFrame: boolean;
  readonly audio: boolean;
  /** The model may choose the duration, and the ratio without a picture. */
  readonly chooses: boolean;
}

const FULL = ['480p', '720p', '1080p'];
const HALF = ['480p', '720p'];
const SECOND: ModelLimits = {
  ...{ durations: [4, 15], resolutions: HALF, images: 9, videos: 3 },
  ...{ lastFrame: true, audio: true, chooses: true },
};
const FIRST: ModelLimits = {
  ...{ durations: [2, 12], resolutions: FULL, images: 0, videos: 0 },
  ...{ lastFrame: true, audio: false, chooses: false },
};

/** By the name without its country; 1080p of 2.5 is to be had in China only. */
const MODELS: Readonly<Record<string, ModelLimits>> = {
  'seedance-2-5-260628': { ...SECOND, durations: [4, 30], images: 30, videos: 10 },
  'seedance-2-0-260128': { ...SECOND, resolutions: FULL },
  'seedance-2-0-fast-260128': SECOND,
  'seedance-2-0-mini-260615': SECOND,
  'seedance-1-5-pro-251215': { ...FIRST, durations: [4, 12], audio: true, chooses: true },
  'seedance-1-0-pro-250528': FIRST,
  'seedance-1-0-pro-fast-251015': { ...FIRST, lastFrame: false },
};

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'];
/** Where the model chooses: the ratio whose frames are among the largest. */
const CHOSEN_RATIO = '4:3';
const SEED_MAX = 2_147_483_647;
const FIELDS = (
  'model content resolution ratio duration frames seed camera_fixed watermark generate_audio return_last_frame ' +
  'service_tier execution_expires_after callback_url draft priority safety_identifier tools output_format ' +
  'omni_reference_task_type'
).split(' ');

/** The vendor's other way to say it, at the end of the prompt: these win. */
const FLAGS: Readonly<Record<string, string>> = {
  resolution: 'resolution',
  rs: 'resolution',
  ratio: 'ratio',
  rt: 'ratio',
  duration: 'duration',
  dur: 'duration',
};

export function checkOrder(request: SandboxRequest, sent: Fields): SeedanceOrder {
  const unknown = Object.keys(sent).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) refuse(request, unknown, `Unknown parameter: ${unknown}.`);
  const model = typeof sent['model'] === 'string' ? sent['model'] : '';
  const limits = limitsOf(request, model);
  const inputs = readContent(request, sent['content'], limits);
  const fields = withFlags(sent);
  checkFlags(request, fields, limits);
  return {
    model,
    resolution: oneOf(request, 'resolution', fields['resolution'] ?? '720p', limits.resolutions),
    ratio: ratioOf(request, fields, { model, limits, inputs }),
    duration: durationOf(request, fields['duration'] ?? (isNewest(model) ? -1 : 5), limits),
    seed: seedOf(request, fields['seed'] ?? -1),
    generateAudio: limits.audio ? fields['generate_audio'] !== false : null,
    inputImages: inputs.images.length,
    inputVideos: inputs.videos,
  };
}

function limitsOf(request: SandboxRequest, model: string): ModelLimits {
  const limits = MODELS[model.replace(/^(doubao|dreamina)-/, '')];
  if (limits === undefined) {
    const message = `The model or endpoint ${model} does not exist or you do not have access to it.`;
    throw new EarlyAnswer(
      request.voice.refuse(404, { code: 'InvalidEndpointOrModel.NotFound', field: 'model', message }),
    );
  }
  const inChina = model.startsWith('doubao-') && isNewest(model);
  return inChina ? { ...limits, resolutions: FULL } : limits;
}

function isNewest(model: string): boolean {
  return model.includes('seedance-2-5');
}

function withFlags(sent: Fields): Fields {
  const flagged = [...textsOf(sent['content']).matchAll(/--([a-z]+)\s+(\S+)/g)].flatMap(
    ([, flag = '', value = '']) => {
      const field = FLAGS[flag];
      return field === undefined ? [] : [[field, field === 'duration' ? Number(value) : value]];
    },
  );
  const set = Object.entries(sent).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(set), ...Object.fromEntries(flagged) };
}

function checkFlags(request: SandboxRequest, fields: Fields, limits: ModelLimits): void {
  for (const field of ['generate_audio', 'watermark', 'camera_fixed', 'return_last_frame', 'draft']) {
    const value = fields[field];
    if (value !== undefined && typeof value !== 'boolean')
      refuse(request, field, `${field} must be a boolean.`);
  }
  if (fields['generate_audio'] !== undefined && !limits.audio) {
    refuse(request, 'generate_audio', 'generate_audio is not supported by this model.');
  }
}

interface RatioContext {
  readonly model: string;
  readonly limits: ModelLimits;
  readonly inputs: Inputs;
}

function ratioOf(request: SandboxRequest, fields: Fields, { model, limits, inputs }: RatioContext): string {
  const hasFrame = inputs.images.includes('first_frame');
  const byDefault = limits.chooses || hasFrame ? 'adaptive' : '16:9';
  const ratio = oneOf(request, 'ratio', fields['ratio'] ?? byDefault, RATIOS);
  if (isNewest(model) && hasFrame && ratio !== 'adaptive') {
    const message = 'ratio only supports adaptive for first-frame and first-and-last-frame tasks.';
    const code = 'InvalidParameter.TaskTypeConstraint';
    throw new EarlyAnswer(request.voice.refuse(400, { code, field: 'ratio', message }));
  }
  if (ratio !== 'adaptive') return ratio;
  if (!limits.chooses && !hasFrame) refuse(request, 'ratio', 'adaptive needs a first frame.');
  return CHOSEN_RATIO;
}

function durationOf(
  request: SandboxRequest,
  duration: unknown,
  { durations: [min, max], chooses }: ModelLimits,
): number {
  if (duration === -1 && chooses) return max;
  if (typeof duration === 'number' && Number.isInteger(duration) && duration >= min && duration <= max) {
    return duration;
  }
  return refuse(request, 'duration', `The duration must be a whole number from ${min} to ${max}.`);
}

/** Of -1 the vendor makes a number of its own. */
function seedOf(request: SandboxRequest, seed: unknown): number {
  if (typeof seed !== 'number' || !Number.isInteger(seed) || seed < -1 || seed > SEED_MAX) {
    return refuse(request, 'seed', `The seed must be a whole number from -1 to ${SEED_MAX}.`);
  }
  return seed === -1 ? Math.floor(Math.random() * 100_000) : seed;
}

function oneOf(request: SandboxRequest, field: string, value: unknown, values: readonly string[]): string {
  const known = values.find((candidate) => candidate === value);
  return known ?? refuse(request, field, `${field} must be one of ${values.join(', ')}.`);
}

function refuse(request: SandboxRequest, field: string, message: string): never {
  throw new EarlyAnswer(request.voice.refuse(400, { field, message }));
}
