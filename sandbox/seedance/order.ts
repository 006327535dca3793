// Checks an order of a Seedance video: refuses what Ark would not accept and names the field.

import { isWholeWithin, refuseField, refuseUnknown, requireOneOf } from '../field-checks.ts';
import { type Fields, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { type Inputs, readContent, textsOf } from './content.ts';

export interface SeedanceOrder {
  readonly model: string;
  readonly resolution: string;
  readonly ratio: string;
  readonly duration: number;
  /** Null where the model takes none. */
  readonly seed: number | null;
  /** What the customer wrote into the field; null where it was left out. */
  readonly safetyIdentifier: string | null;
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
  /** Whether the model takes `seed` and `camera_fixed`: 1.x alone. */
  readonly seed: boolean;
  /** True: the model may choose the duration, and the ratio without a first frame. */
  readonly canChoose: boolean;
}

const RESOLUTIONS = ['480p', '720p', '1080p'];
const RESOLUTIONS_WITH_4K = [...RESOLUTIONS, '4k'];
const RESOLUTIONS_WITHOUT_1080P = ['480p', '720p'];
const LIMITS_2_0: ModelLimits = {
  ...{ durations: [4, 15], resolutions: RESOLUTIONS_WITHOUT_1080P, images: 9, videos: 3 },
  ...{ lastFrame: true, audio: true, seed: false, canChoose: true },
};
const LIMITS_1_0: ModelLimits = {
  ...{ durations: [2, 12], resolutions: RESOLUTIONS, images: 0, videos: 0 },
  ...{ lastFrame: true, audio: false, seed: true, canChoose: false },
};

/**
 * Limits by the model's name without the prefix of its country. Sources: BytePlus' guide of Seedance 2.5 and
 * its pages on creating tasks and on prices (2026-10-02); 1080p of 2.5 outside of China since 2026-08-14. The
 * retirement notice of 2026-11-11 took 1.5-pro, so that it is missing here.
 */
const MODELS: Readonly<Record<string, ModelLimits>> = {
  'seedance-2-5-260628': {
    ...LIMITS_2_0,
    durations: [4, 30],
    resolutions: RESOLUTIONS,
    images: 30,
    videos: 10,
  },
  'seedance-2-0-260128': { ...LIMITS_2_0, resolutions: RESOLUTIONS_WITH_4K },
  'seedance-2-0-fast-260128': LIMITS_2_0,
  'seedance-2-0-mini-260615': LIMITS_2_0,
  'seedance-1-0-pro-250528': LIMITS_1_0,
  'seedance-1-0-pro-fast-251015': { ...LIMITS_1_0, lastFrame: false },
};

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'];
/** The ratio that a model chooses here, one whose frames are among the largest. */
const CHOSEN_RATIO = '4:3';
const SEED_MAX = 2_147_483_647;
/** Of ours: the vendor's pages give no number. */
const SAFETY_IDENTIFIER_CHARACTERS_MAX = 64;
const FIELDS = (
  'model content resolution ratio duration frames seed camera_fixed watermark generate_audio return_last_frame ' +
  'service_tier execution_expires_after callback_url draft priority safety_identifier tools output_format ' +
  'omni_reference_task_type'
).split(' ');

/** Fields by the name of the flag that sets them at the end of the prompt; flags win over fields. */
const FLAGS: Readonly<Record<string, string>> = {
  resolution: 'resolution',
  rs: 'resolution',
  ratio: 'ratio',
  rt: 'ratio',
  duration: 'duration',
  dur: 'duration',
};

export function checkOrder(request: SandboxRequest, sent: Fields): SeedanceOrder {
  refuseUnknown(request, sent, FIELDS, '', (field) => `Unknown parameter: ${field}.`);
  const model = typeof sent['model'] === 'string' ? sent['model'] : '';
  const limits = limitsOf(request, model);
  const inputs = readContent(request, sent['content'], limits);
  const fields = withFlags(sent);
  checkBooleans(request, fields, limits);
  checkVideoPurpose(request, fields, inputs);
  return {
    model,
    resolution: requireOneOf(request, 'resolution', fields['resolution'] ?? '720p', limits.resolutions),
    ratio: ratioOf(request, fields, limits, inputs),
    duration: durationOf(request, fields['duration'] ?? (isNewest(model) ? -1 : 5), limits),
    seed: limits.seed ? seedOf(request, fields['seed'] ?? -1) : null,
    safetyIdentifier: safetyIdentifierOf(request, fields['safety_identifier']),
    generateAudio: limits.audio ? fields['generate_audio'] !== false : null,
    inputImages: inputs.images.length,
    inputVideos: inputs.videos,
  };
}

function limitsOf(request: SandboxRequest, model: string): ModelLimits {
  const limits = MODELS[model.replace(/^(doubao|dreamina)-/, '')];
  if (limits === undefined) {
    const message = `The model or endpoint ${model} does not exist or you do not have access to it.`;
    refuse(request, 404, { code: 'InvalidEndpointOrModel.NotFound', field: 'model', message });
  }
  return limits;
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

function checkBooleans(request: SandboxRequest, fields: Fields, limits: ModelLimits): void {
  for (const field of ['generate_audio', 'watermark', 'camera_fixed', 'return_last_frame', 'draft']) {
    const value = fields[field];
    if (value !== undefined && typeof value !== 'boolean')
      refuseField(request, field, `${field} must be a boolean.`);
  }
  if (fields['generate_audio'] !== undefined && !limits.audio) {
    refuseField(request, 'generate_audio', 'generate_audio is not supported by this model.');
  }
  for (const field of ['seed', 'camera_fixed']) {
    if (fields[field] !== undefined && !limits.seed)
      refuseField(request, field, `${field} is not supported by this model.`);
  }
}

function ratioOf(request: SandboxRequest, fields: Fields, limits: ModelLimits, inputs: Inputs): string {
  const hasFrame = inputs.images.includes('first_frame');
  const byDefault = limits.canChoose || hasFrame ? 'adaptive' : '16:9';
  const ratio = requireOneOf(request, 'ratio', fields['ratio'] ?? byDefault, RATIOS);
  if (isNewest(String(fields['model'])) && hasFrame && ratio !== 'adaptive') {
    const message = 'ratio only supports adaptive for first-frame and first-and-last-frame tasks.';
    const code = 'InvalidParameter.TaskTypeConstraint';
    refuse(request, 400, { code, field: 'ratio', message });
  }
  if (ratio !== 'adaptive') return ratio;
  if (!limits.canChoose && !hasFrame) refuseField(request, 'ratio', 'adaptive needs a first frame.');
  return CHOSEN_RATIO;
}

function durationOf(
  request: SandboxRequest,
  duration: unknown,
  { durations: [min, max], canChoose }: ModelLimits,
): number {
  if (duration === -1 && canChoose) return max;
  if (isWholeWithin(duration, min, max)) return duration;
  return refuseField(request, 'duration', `The duration must be a whole number from ${min} to ${max}.`);
}

/** Replaces -1 by a seed of the vendor's choice. */
function seedOf(request: SandboxRequest, seed: unknown): number {
  if (!isWholeWithin(seed, -1, SEED_MAX)) {
    return refuseField(request, 'seed', `The seed must be a whole number from -1 to ${SEED_MAX}.`);
  }
  return seed === -1 ? Math.floor(Math.random() * 100_000) : seed;
}

function safetyIdentifierOf(request: SandboxRequest, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && value !== '' && value.length <= SAFETY_IDENTIFIER_CHARACTERS_MAX)
    return value;
  return refuseField(request, 'safety_identifier', 'safety_identifier must be a short string.');
}

/**
 * Unless it is told that a video is a reference, 2.5 may take the order for an edit, which this one is not.
 */
function checkVideoPurpose(request: SandboxRequest, fields: Fields, { videos }: Inputs): void {
  const purpose = fields['omni_reference_task_type'] ?? 'auto';
  const field = 'omni_reference_task_type';
  requireOneOf(request, field, purpose, ['auto', 'reference', 'edit', 'extend']);
  if (purpose === 'reference' || videos === 0 || !isNewest(String(fields['model']))) return;
  const message = 'Edits and extensions need ratio adaptive and duration -1.';
  if (fields['duration'] !== -1 || fields['ratio'] !== 'adaptive')
    refuse(request, 400, { code: 'InvalidParameter.TaskTypeConstraint', field, message });
}
