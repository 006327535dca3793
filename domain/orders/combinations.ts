// What a model offers only together: rules that hold for some of its orders and narrow what they may have.
import type { Combination, Durations } from '../catalog/catalog.ts';
import type { FieldNames, Order } from './order.ts';
import { invalidValue } from './refusals.ts';

export type CombinedOrder = Pick<
  Order,
  'seconds' | 'resolution' | 'audio' | 'imageRole' | 'inputImages' | 'inputVideos'
>;

/**
 * Throws a GatewayError that names the field, the allowed values, and the part of the order that narrows
 * them.
 */
export function checkCombinations(
  combinations: readonly Combination[],
  order: CombinedOrder,
  names: FieldNames,
): void {
  for (const combination of combinations) if (fits(combination, order)) check(combination, order, names);
}

/** Throws a GatewayError when the seconds are not among the durations; its message ends with `where`. */
export function checkDuration(seconds: number, durations: Durations, where = ''): void {
  const allowed =
    'values' in durations ? durations.values.join(', ') : `${durations.min} to ${durations.max}`;
  const isAllowed =
    'values' in durations
      ? durations.values.includes(seconds)
      : Number.isInteger(seconds) && seconds >= durations.min && seconds <= durations.max;
  if (!isAllowed) throw invalidValue('duration', `duration must be ${allowed} (whole seconds)${where}.`);
}

function fits({ resolution, imageRole, inputVideo }: Combination, order: CombinedOrder): boolean {
  return (
    (resolution === undefined || resolution === order.resolution) &&
    (imageRole === undefined || imageRole === order.imageRole) &&
    (inputVideo === undefined || inputVideo === order.inputVideos > 0)
  );
}

function check(combination: Combination, order: CombinedOrder, names: FieldNames): void {
  const { durations, resolutions, audio, inputImagesMax, inputVideosMax } = combination;
  const where = describe(combination);
  if (durations) checkDuration(order.seconds, durations, where);
  if (resolutions && !resolutions.includes(order.resolution ?? ''))
    throw invalidValue(
      names.resolution,
      `${names.resolution} must be one of ${resolutions.join(', ')}${where}.`,
    );
  if (audio && order.audio !== null && !audio.includes(order.audio))
    throw invalidValue(names.audio, `${names.audio} must be ${audio.join(' or ')}${where}.`);
  if (inputImagesMax !== undefined && order.inputImages > inputImagesMax)
    throw invalidValue(
      names.inputImages,
      `${names.inputImages} may have at most ${inputImagesMax} entries${where}.`,
    );
  if (inputVideosMax !== undefined && order.inputVideos > inputVideosMax)
    throw invalidValue('video_urls', `video_urls may have at most ${inputVideosMax} entries${where}.`);
}

function describe({ resolution, imageRole, inputVideo }: Combination): string {
  const images =
    imageRole === 'none'
      ? ' without input images'
      : ` with input images as ${imageRole?.replaceAll('_', ' ')}`;
  return [
    resolution === undefined ? '' : ` at ${resolution}`,
    imageRole === undefined ? '' : images,
    inputVideo === undefined ? '' : ` ${inputVideo ? 'with' : 'without'} input videos`,
  ].join('');
}
