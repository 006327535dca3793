/** Makes docs/models.md from catalog.json: what each model offers and costs, for people. `npm run models` writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  METERS,
  type Catalog,
  type Combination,
  type Durations,
  type Model,
  type PriceLine,
} from '../domain/catalog/catalog.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';
import { CREDITS_PER_USD, toCredits, toUsd } from '../domain/credits.ts';

export const MODELS_PAGE = 'docs/models.md';
const CATALOG = 'catalog.json';

/** The page for the catalogue as delivered. */
export function composeModelsPage(): string {
  const catalog = parseCatalog(JSON.parse(readFileSync(CATALOG, 'utf8')));
  return compose(catalog);
}

function compose({ effectiveFrom, models }: Catalog): string {
  const families = [...new Set([...models.values()].map(({ family }) => family))];
  const sections = families.map((family) =>
    describeFamily(
      family,
      [...models.values()].filter((model) => model.family === family),
    ),
  );
  return [
    '# Models',
    '',
    `Made from \`${CATALOG}\` by \`npm run models\`; do not edit. The prices hold from **${effectiveFrom}**, without the ` +
      `operator’s margin. ${CREDITS_PER_USD} credits are 1 USD. A caller sees the models whose family has credentials, ` +
      'under GET /v1/models.',
    '',
    'Billing: per_task, a price for the whole; per_second, per_image and per_token, a price for each of what is ' +
      'delivered, and never more than the estimate. “Unconfirmed” are figures that no page of the vendor confirms: look ' +
      'at them before relying on them.',
    '',
    ...sections,
  ].join('\n');
}

function describeFamily(family: string, models: readonly Model[]): string {
  const rows = models.map((model) => [
    describeModel(model),
    model.billingMode,
    describeOffer(model),
    describeInputs(model),
    model.price.map(describePrice).join('<br>'),
    model.unconfirmed.join('<br>') || '–',
  ]);
  return table(`## ${family}`, ['Model', 'Billing', 'Offers', 'Inputs', 'Price', 'Unconfirmed'], rows);
}

function table(heading: string, head: readonly string[], rows: readonly string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [heading, '', ...lines, ''].join('\n');
}

function describeModel({ id, kind, adapter, upstreamModel }: Model): string {
  const renamed = upstreamModel === id ? '' : `<br>upstream \`${upstreamModel}\``;
  return `\`${id}\`<br>${kind}, ${adapter}${renamed}`;
}

/** What is in bold is taken where the caller says nothing. */
function describeOffer({ limits, defaults }: Model): string {
  const { durations, resolutions, ratios, audio, imagesMax, contextTokens, outputTokensMax } = limits;
  const sound = audio?.map((isOn) => choice(isOn ? 'sound' : 'silence', isOn === defaults.audio)).join(', ');
  const lines = [
    durations && `${describeDurations(durations)} s${defaults.duration ? ` (**${defaults.duration}**)` : ''}`,
    resolutions?.map((name) => choice(name, name === defaults.resolution)).join(', '),
    ratios?.map((name) => choice(name, name === defaults.ratio)).join(', '),
    sound ?? (defaults.audio === true ? 'always with sound' : undefined),
    imagesMax && `1 to ${imagesMax} images`,
    contextTokens && `${contextTokens} tokens of context`,
    outputTokensMax && `${outputTokensMax} tokens of answer`,
    `prompt of ${limits.promptCharactersMax} characters`,
    ...(limits.combinations ?? []).map(describeCombination),
  ];
  return present(lines);
}

function describeInputs({ kind, limits }: Model): string {
  const { inputImagesMin = 0, inputImagesMax = 0, frameImagesMax = 1, referenceImagesMax = 0 } = limits;
  const frames = ['', 'a first frame', 'a first and a last frame'][frameImagesMax];
  const asReferences = referenceImagesMax > 0 ? `${referenceImagesMax} references` : '';
  const roles = [frames, asReferences].filter(Boolean).join(' or ');
  const range = inputImagesMin > 0 ? `${inputImagesMin} to ${inputImagesMax}` : `up to ${inputImagesMax}`;
  const lines = [
    inputImagesMax > 0 && `${range} images${kind === 'video' ? `: ${roles}` : ''}`,
    limits.inputImagesAsUrls && 'images as https URLs only',
    limits.inputVideosMax && `up to ${limits.inputVideosMax} videos`,
    limits.inputVideoSecondsMax && `each video of at most ${limits.inputVideoSecondsMax} s`,
    limits.inputVideoSecondsTotalMax && `all videos of at most ${limits.inputVideoSecondsTotalMax} s`,
  ];
  return present(lines) || 'text';
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
  // The name of the line says most of it already.
  const conditions = Object.entries(when)
    .filter(([, value]) => !item.includes(String(value)))
    .map(([name, value]) => `${name} ${String(value)}`);
  const told = conditions.length > 0 ? ` (${conditions.join(', ')})` : '';
  return `${toCredits(credits)} credits ($${toUsd(credits)}) per ${METERS[meter]}: ${item}${told}${allowance}`;
}

function describeDurations(durations: Durations): string {
  return 'values' in durations ? durations.values.join(', ') : `${durations.min} to ${durations.max}`;
}

function choice(name: string, isDefault: boolean): string {
  return isDefault ? `**${name}**` : name;
}

function present(lines: readonly (string | number | boolean | undefined)[]): string {
  return lines.filter(Boolean).join('<br>');
}

if (import.meta.main) writeFileSync(MODELS_PAGE, composeModelsPage());
