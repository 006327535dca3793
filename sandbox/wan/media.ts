// Checks the `input.media` of a Wan order: frames or references, never both.

import { refuseField } from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import { isFields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import type { WanLimits } from './limits.ts';

/** Returns the number of reference videos. */
export function checkMedia(request: SandboxRequest, media: unknown, limits: WanLimits): number {
  if (!Array.isArray(media)) return refuseMedia(request, 'A list is required.');
  const types = media.map((item, index) => typeOf(request, item, index, limits));
  const count = (type: string): number => types.filter((candidate) => candidate === type).length;
  for (const type of new Set(types)) {
    const max = limits.media[type] ?? 0;
    if (count(type) > max) refuseMedia(request, `At most ${max} of the type ${type}.`);
  }
  const frames = count('first_frame') + count('last_frame');
  const references = types.filter((type) => type.startsWith('reference_')).length;
  if (limits.mixedMax !== undefined) checkMixed(request, references, frames + references, limits.mixedMax);
  else if (frames > 0 && references > 0) refuseMedia(request, 'Frames and references cannot be combined.');
  if (count('last_frame') > 0 && count('first_frame') === 0)
    refuseMedia(request, 'A last frame needs a first frame.');
  if (limits.needsFrame && count('first_frame') + count('first_clip') === 0) {
    refuseMedia(request, 'A first frame is required.');
  }
  return count('reference_video');
}

function checkMixed(request: SandboxRequest, references: number, all: number, max: number): void {
  if (references === 0) refuseMedia(request, 'A reference is required.');
  if (all > max) refuseMedia(request, `At most ${max} media.`);
}

function typeOf(request: SandboxRequest, item: unknown, index: number, limits: WanLimits): string {
  const { type, url } = isFields(item) ? item : {};
  if (typeof type !== 'string' || limits.media[type] === undefined) {
    return refuseMedia(request, `The type must be one of ${Object.keys(limits.media).join(', ')}.`, index);
  }
  if (typeof url !== 'string' || !/^(https?|oss):\/\/|^data:(image|audio)\//.test(url)) {
    return refuseMedia(request, 'The URL is not valid.', index);
  }
  checkImageFile(request, `input.media[${index}]`, url, limits.imageFiles);
  return type;
}

function refuseMedia(request: SandboxRequest, message: string, index?: number): never {
  const field = `input.media${index === undefined ? '' : `[${index}]`}`;
  refuseField(request, field, message);
}
