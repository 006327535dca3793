/** What DashScope's Wan models accept as `input.media`: frames or references, never both. */

import { EarlyAnswer } from '../answers.ts';
import type { Call } from '../dialect.ts';
import { isFields } from '../requests.ts';
import type { WanLimits } from './limits.ts';

/** Answers with the number of reference videos. */
export function checkMedia(call: Call, media: unknown, limits: WanLimits): number {
  if (!Array.isArray(media)) return refuse(call, 'A list is required.');
  const types = media.map((item, index) => typeOf(call, item, index, limits));
  const count = (type: string): number => types.filter((candidate) => candidate === type).length;
  for (const type of new Set(types)) {
    const most = limits.media[type] ?? 0;
    if (count(type) > most) refuse(call, `At most ${most} of the type ${type}.`);
  }
  const frames = count('first_frame') + count('last_frame');
  const references = types.filter((type) => type.startsWith('reference_')).length;
  if (frames > 0 && references > 0) refuse(call, 'Frames and references cannot be combined.');
  if (count('last_frame') > 0 && count('first_frame') === 0)
    refuse(call, 'A last frame needs a first frame.');
  if (limits.needsFrame && count('first_frame') + count('first_clip') === 0) {
    refuse(call, 'A first frame is required.');
  }
  return count('reference_video');
}

function typeOf(call: Call, item: unknown, index: number, limits: WanLimits): string {
  const { type, url } = isFields(item) ? item : {};
  if (typeof type !== 'string' || limits.media[type] === undefined) {
    return refuse(call, `The type must be one of ${Object.keys(limits.media).join(', ')}.`, index);
  }
  if (typeof url !== 'string' || !/^(https?|oss):\/\/|^data:(image|audio)\//.test(url)) {
    return refuse(call, 'The URL is not valid.', index);
  }
  return type;
}

function refuse(call: Call, message: string, index?: number): never {
  const field = `input.media${index === undefined ? '' : `[${index}]`}`;
  throw new EarlyAnswer(call.voice.refuse(400, { field, message }));
}
