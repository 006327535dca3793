// `npm run models`: writes docs/models.md from catalog.json, with what each model offers and costs,
// docs/vendor-rules.md, and the JSON Schemas; `npm run models -- schema` prints the schema of an overlay,
// `npm run models -- probe FAMILY` asks a vendor.
import { readFileSync, writeFileSync } from 'node:fs';
import {
  CATALOG_SCHEMA,
  composeCatalogSchema,
  composeOverlaySchema,
  OVERLAY_SCHEMA,
} from './catalog-schema.ts';
import { NOT_OFFERED } from './not-offered.ts';
import { composeVendorRulesPage, describeUnproven, VENDOR_RULES_PAGE } from './vendor-rules-page.ts';
import {
  METERS,
  type Catalog,
  type Combination,
  type Durations,
  type ImageLimits,
  type Model,
  type PriceLine,
} from '../domain/catalog/catalog.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';
import { optionNames } from '../domain/orders/options.ts';
import { CREDITS_PER_USD, toCredits, toUsd } from '../domain/credits.ts';

export const MODELS_PAGE = 'docs/models.md';
const CATALOG = 'catalog.json';
const BYTES_PER_MEGABYTE = 1_000_000;

/** Composes the page for the catalogue as delivered. */
export function composeModelsPage(): string {
  const catalog = parseCatalog(JSON.parse(readFileSync(CATALOG, 'utf8')));
  return compose(catalog);
}

function compose({ effectiveFrom, models }: Catalog): string {
  const all = [...models.values()];
  const families = [...new Set(all.map(({ family }) => family))];
  return [
    '# Models',
    '',
    `Made from \`${CATALOG}\` by \`npm run models\`; do not edit.`,
    '',
    `- The prices hold from **${effectiveFrom}**, without the operator’s margin. ${CREDITS_PER_USD} credits are 1 USD.`,
    '- A caller sees the models whose family has credentials, under GET `/v1/models`.',
    '- Billing: per_task is a price for the whole; per_second, per_image and per_token are prices for each of what is',
    '  delivered, and never more than the estimate.',
    '- What is **bold** is taken where the caller says nothing.',
    '- Unconfirmed are figures that no page of the vendor confirms: look at them before relying on them.',
    '- Unproven are limits on which only our sandbox agrees with us; [vendor-rules.md](vendor-rules.md) has the source of',
    '  every other one.',
    '',
    ...families.flatMap((family) => [
      `## ${family}`,
      '',
      ...all.filter((model) => model.family === family).flatMap(describeModel),
    ]),
    '## Not offered',
    '',
    ...NOT_OFFERED.map(([what, why]) => `- ${what}: ${why}`),
    '',
  ].join('\n');
}

function describeModel(model: Model): string[] {
  const {
    id,
    kind,
    adapter,
    upstreamModel,
    billingMode,
    price,
    unconfirmed,
    endedOn,
    plainKeysOnly,
    silentAtVertexOnly,
    vertexOnly,
  } = model;
  const unproven = kind === 'text' ? null : describeUnproven(upstreamModel);
  const renamed = upstreamModel === id ? '' : `, upstream \`${upstreamModel}\``;
  return [
    `### \`${id}\``,
    '',
    `${kind}, adapter ${adapter}${renamed}, billed ${billingMode}`,
    '',
    ...list('Price', price.map(describePrice)),
    ...list('Options', describeOptions(model)),
    ...list('Inputs', describeInputs(model)),
    ...(endedOn === undefined
      ? []
      : [`- Ended at its vendor on ${endedOn}: offered only at another base URL than the vendor’s`]),
    ...(silentAtVertexOnly ? ['- Silence at Vertex only: the Gemini API always makes sound'] : []),
    ...(vertexOnly ? ['- Vertex only: not offered at Google’s address of the Gemini API'] : []),
    ...(plainKeysOnly ? ['- Needs a plain API key: no pair of access key and secret key'] : []),
    ...(unconfirmed.length > 0 ? [`- Unconfirmed: ${unconfirmed.join('; ')}`] : []),
    ...(unproven === null ? [] : [`- Unproven: ${unproven}`]),
    '',
  ];
}

/** Formats texts as a list: one line for one text, a nested list for several, nothing for none. */
function list(title: string, texts: readonly string[]): string[] {
  if (texts.length < 2) return texts.map((text) => `- ${title}: ${text}`);
  return [`- ${title}:`, ...texts.map((text) => `  - ${text}`)];
}

/** Lists the options of a model; the default values are in bold. */
function describeOptions(model: Model): string[] {
  const { limits, defaults } = model;
  const { durations, resolutions, ratios, audio, imagesMax, contextTokens, outputTokensMax } = limits;
  const sound = audio?.map((isOn) => choice(isOn ? 'sound' : 'silence', isOn === defaults.audio)).join(', ');
  const lines = [
    durations && `${describeDurations(durations)} s${defaults.duration ? ` (**${defaults.duration}**)` : ''}`,
    resolutions?.map((name) => choice(name, name === defaults.resolution)).join(', '),
    ratios?.map((name) => choice(name, name === defaults.ratio)).join(', '),
    sound ?? (defaults.audio === true ? 'always with sound' : undefined),
    imagesMax && `1 to ${imagesMax} images`,
    contextTokens && `${grouped(contextTokens)} tokens of context`,
    outputTokensMax && `${grouped(outputTokensMax)} tokens of answer`,
    `prompt of ${grouped(limits.promptCharactersMax)} characters`,
    model.kind === 'text'
      ? undefined
      : optionNames(model)
          .map((name) => `metadata.${name}`)
          .join(', '),
    ...(limits.combinations ?? []).map(describeCombination),
  ];
  return present(lines);
}

function describeInputs({ kind, limits }: Model): string[] {
  const { inputImagesMin = 0, inputImagesMax = 0, frameImagesMax = 1, referenceImagesMax = 0 } = limits;
  const frames = ['', 'a first frame', 'a first and a last frame'][frameImagesMax];
  const alone = limits.lastFrameAlone ? 'a last frame alone' : '';
  const beside = limits.frameBesideReferences ? 'a first frame beside references' : '';
  const asReferences = referenceImagesMax > 0 ? `${referenceImagesMax} references` : '';
  const roles = [frames, alone, asReferences, beside].filter(Boolean).join(' or ');
  const range = inputImagesMin > 0 ? `${inputImagesMin} to ${inputImagesMax}` : `up to ${inputImagesMax}`;
  const lines = [
    inputImagesMax > 0 && `${range} images${kind === 'video' ? `: ${roles}` : ''}`,
    limits.inputImagesAsUrls && 'images as https URLs only',
    ...describeImageLimits(limits.inputImageLimits),
    limits.inputVideosMax && `up to ${limits.inputVideosMax} videos`,
    limits.inputVideoSecondsMax && `each video of at most ${limits.inputVideoSecondsMax} s`,
    limits.inputVideoSecondsTotalMax && `all videos of at most ${limits.inputVideoSecondsTotalMax} s`,
  ];
  return present(lines);
}

function describeImageLimits(limits: ImageLimits | undefined): (string | undefined)[] {
  const { formats, bytesMax, sidePixelsMin = 1, sidePixelsMax, sidesRatioMax } = limits ?? {};
  const sides = sidePixelsMax ? `${sidePixelsMin} to ${sidePixelsMax}` : `at least ${sidePixelsMin}`;
  return [
    formats && `images as ${formats.join(', ')}`,
    bytesMax ? `images of at most ${bytesMax / BYTES_PER_MEGABYTE} MB` : undefined,
    limits?.sidePixelsMin || sidePixelsMax ? `images with ${sides} pixels a side` : undefined,
    sidesRatioMax ? `images no longer than ${sidesRatioMax} times their shorter side` : undefined,
  ];
}

function describeCombination(combination: Combination): string {
  const { resolution, imageRole, inputVideo, durations, resolutions, audio, inputVideosMax } = combination;
  const inputs = imageRole === 'none' ? 'without input images' : `with ${imageRole?.replaceAll('_', ' ')}`;
  const when = [
    resolution && `at ${resolution}`,
    imageRole && inputs,
    inputVideo !== undefined && `${inputVideo ? 'with' : 'without'} input videos`,
  ];
  const only = [
    durations && `${describeDurations(durations)} s`,
    resolutions?.join(', '),
    audio?.map((isOn) => (isOn ? 'sound' : 'silence')).join(', '),
    inputVideosMax !== undefined && `${inputVideosMax} input videos`,
  ];
  return `${when.filter(Boolean).join(' ')}: ${only.filter(Boolean).join('; ')}`;
}

function describePrice({ item, meter, credits, free, when }: PriceLine): string {
  const allowance = free > 0 ? `, the first ${free} free` : '';
  // The line's name already says most of the condition.
  const conditions = Object.entries(when)
    .filter(([, value]) => !item.includes(String(value)))
    .map(([name, value]) => `${name} ${String(value)}`);
  const told = conditions.length > 0 ? ` (${conditions.join(', ')})` : '';
  return `${toCredits(credits)} credits ($${toUsd(credits)}) per ${METERS[meter]}: ${item}${told}${allowance}`;
}

function describeDurations(durations: Durations): string {
  return 'values' in durations ? durations.values.join(', ') : `${durations.min} to ${durations.max}`;
}

/** Groups the digits of a figure: 1050000 as 1,050,000. */
function grouped(figure: number): string {
  return figure.toLocaleString('en-US');
}

function choice(name: string, isDefault: boolean): string {
  return isDefault ? `**${name}**` : name;
}

function present(lines: readonly (string | number | boolean | undefined)[]): string[] {
  return lines.filter((line) => typeof line === 'string' && line !== '').map(String);
}

if (import.meta.main) {
  const [command, ...args] = process.argv.slice(2);
  if (command === 'schema') process.stdout.write(composeOverlaySchema());
  else if (command === 'probe') {
    const { runProbe } = await import('./probe/main.ts');
    const set = Object.entries(process.env).filter((entry): entry is [string, string] => Boolean(entry[1]));
    process.exitCode = await runProbe(args, Object.fromEntries(set));
  } else {
    writeFileSync(MODELS_PAGE, composeModelsPage());
    writeFileSync(VENDOR_RULES_PAGE, composeVendorRulesPage());
    writeFileSync(CATALOG_SCHEMA, composeCatalogSchema());
    writeFileSync(OVERLAY_SCHEMA, composeOverlaySchema());
  }
}
