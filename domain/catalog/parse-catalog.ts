// From the JSON of catalog.json to the model catalogue, checked at start: whatever is wrong is named, all at once.
import { Reader } from './reader.ts';
import {
  BILLING_MODES,
  IMAGE_ROLES,
  METERS,
  type Catalog,
  type Combination,
  type Durations,
  type Meter,
  type Model,
  type PriceLine,
  type TokenFormula,
  type Upstream,
} from './catalog.ts';
import { TASK_MODES } from '../tasks.ts';

/** Reads a parsed catalog.json. Throws one Error that names every problem with its path. */
export function parseCatalog(json: unknown): Catalog {
  const problems: string[] = [];
  const root = new Reader(json, 'catalog', problems);
  const effectiveFrom = root.text('effectiveFrom');
  const models = root.list('models').map(readModel);
  const byId = new Map(models.map((model) => [model.id, model]));
  if (byId.size !== models.length) problems.push('catalog.models: an id stands twice');
  for (const model of models) problems.push(...findUnpriced(model));
  if (models.filter((model) => model.imagesEndpoint).length > 1)
    problems.push('catalog.models: more than one model is marked imagesEndpoint');
  if (problems.length > 0) throw new Error(`The model catalogue is not valid:\n  ${problems.join('\n  ')}`);
  return { effectiveFrom, models: byId };
}

/** What comes on top of the work: alone, these price nothing. */
const EXTRAS: readonly Meter[] = ['input_images', 'input_video_seconds'];

/** Work without a price would be free. */
function findUnpriced({ id, limits, price }: Model): string[] {
  const offered = limits.resolutions ?? [undefined];
  const unpriced = offered.filter((resolution) => {
    const isPriced = ({ meter, when, credits }: PriceLine): boolean => {
      const fits = when.resolution === undefined || when.resolution === resolution;
      return fits && !EXTRAS.includes(meter) && credits > 0n;
    };
    return !price.some(isPriced);
  });
  return unpriced.map((resolution) => `catalog.models: ${id} has no price for ${resolution ?? 'its work'}`);
}

function readModel(reader: Reader): Model {
  const limits = reader.child('limits');
  const defaults = reader.child('defaults');
  return {
    id: reader.text('id'),
    kind: reader.oneOf('kind', TASK_MODES),
    family: reader.text('family'),
    adapter: reader.text('adapter'),
    upstreamModel: reader.text('upstreamModel'),
    upstreams: reader.has('upstreams') ? reader.list('upstreams').map(readUpstream) : [],
    billingMode: reader.oneOf('billingMode', BILLING_MODES),
    price: reader.list('price').map(readPriceLine),
    limits: {
      promptCharactersMax: limits.integer('promptCharactersMax'),
      ...limits.optional('durations', () => readDurations(limits.child('durations'))),
      ...limits.optional('resolutions', () => limits.texts('resolutions')),
      ...limits.optional('ratios', () => limits.texts('ratios')),
      ...limits.optional('combinations', () => limits.list('combinations').map(readCombination)),
      ...limits.optional('audio', () => limits.flags('audio')),
      ...limits.optional('imagesMax', () => limits.integer('imagesMax')),
      ...limits.optional('inputImagesMin', () => limits.integer('inputImagesMin')),
      ...limits.optional('inputImagesMax', () => limits.integer('inputImagesMax')),
      ...limits.optional('frameImagesMax', () => limits.integer('frameImagesMax')),
      ...limits.optional('referenceImagesMax', () => limits.integer('referenceImagesMax')),
      ...limits.optional('inputImagesAsUrls', () => limits.flag('inputImagesAsUrls')),
      ...limits.optional('contextTokens', () => limits.integer('contextTokens')),
      ...limits.optional('outputTokensMax', () => limits.integer('outputTokensMax')),
      ...limits.optional('inputVideosMax', () => limits.integer('inputVideosMax')),
      ...limits.optional('inputVideoSecondsMax', () => limits.integer('inputVideoSecondsMax')),
      ...limits.optional('inputVideoSecondsTotalMax', () => limits.integer('inputVideoSecondsTotalMax')),
    },
    defaults: {
      ...defaults.optional('duration', () => defaults.integer('duration')),
      ...defaults.optional('resolution', () => defaults.text('resolution')),
      ...defaults.optional('ratio', () => defaults.text('ratio')),
      ...defaults.optional('outputTokens', () => defaults.integer('outputTokens')),
      ...defaults.optional('audio', () => defaults.flag('audio')),
    },
    refusesPromptFlags: reader.has('refusesPromptFlags') && reader.flag('refusesPromptFlags'),
    tokens: reader.has('tokens') ? readTokenFormula(reader.child('tokens')) : null,
    unconfirmed: reader.has('unconfirmed') ? reader.texts('unconfirmed') : [],
    imagesEndpoint: reader.has('imagesEndpoint') && reader.flag('imagesEndpoint'),
    created: reader.integer('created'),
  };
}

function readPriceLine(reader: Reader): PriceLine {
  const when = reader.child('when');
  return {
    item: reader.text('item'),
    meter: reader.oneOf('meter', Object.keys(METERS) as Meter[]),
    credits: reader.credits('credits'),
    free: reader.has('free') ? reader.integer('free') : 0,
    when: {
      ...when.optional('resolution', () => when.text('resolution')),
      ...when.optional('audio', () => when.flag('audio')),
      ...when.optional('duration', () => when.integer('duration')),
      ...when.optional('imageRole', () => when.oneOf('imageRole', IMAGE_ROLES)),
      ...when.optional('inputVideo', () => when.flag('inputVideo')),
      ...when.optional('promptTokensMax', () => when.integer('promptTokensMax')),
      ...when.optional('promptTokensAbove', () => when.integer('promptTokensAbove')),
    },
  };
}

function readDurations(reader: Reader): Durations {
  if (reader.has('values')) return { values: reader.integers('values') };
  return { min: reader.integer('min'), max: reader.integer('max') };
}

function readCombination(reader: Reader): Combination {
  return {
    ...reader.optional('resolution', () => reader.text('resolution')),
    ...reader.optional('imageRole', () => reader.oneOf('imageRole', IMAGE_ROLES)),
    ...reader.optional('inputVideo', () => reader.flag('inputVideo')),
    ...reader.optional('durations', () => readDurations(reader.child('durations'))),
    ...reader.optional('resolutions', () => reader.texts('resolutions')),
    ...reader.optional('audio', () => reader.flags('audio')),
    ...reader.optional('inputVideosMax', () => reader.integer('inputVideosMax')),
  };
}

function readUpstream(reader: Reader): Upstream {
  return {
    family: reader.text('family'),
    upstreamModel: reader.text('upstreamModel'),
    priority: reader.has('priority') ? reader.integer('priority') : 1,
    weight: reader.has('weight') ? reader.integer('weight') : 1,
  };
}

function readTokenFormula(reader: Reader): TokenFormula {
  return {
    framesPerSecond: reader.integer('framesPerSecond'),
    framesExtra: reader.has('framesExtra') ? reader.integer('framesExtra') : 0,
    pixelsPerToken: reader.integer('pixelsPerToken'),
    framePixels: reader.list('framePixels').map((entry) => ({
      resolution: entry.text('resolution'),
      ratio: entry.text('ratio'),
      pixels: entry.integer('pixels'),
    })),
  };
}
