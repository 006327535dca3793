// docs/models.md is made from the catalogue, and this test notices when it has to be made again.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { composeModelsPage, MODELS_PAGE } from '../../dev/models-page.ts';
import { composeVendorRulesPage, VENDOR_RULES_PAGE } from '../../dev/vendor-rules-page.ts';
import type { ModelLimits } from '../../domain/catalog/catalog.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import type { Subject } from '../../sandbox/rule.ts';
import { RULES, rulesFor } from '../../sandbox/rules.ts';

describe('docs/models.md', () => {
  it('is what `npm run models` makes of the catalogue', () => {
    expect(readFileSync(MODELS_PAGE, 'utf8')).to.equal(composeModelsPage());
  });

  it('has every model, the date of the prices and every figure that is unconfirmed', () => {
    const page = readFileSync(MODELS_PAGE, 'utf8');
    const { models, effectiveFrom } = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
    expect(page).to.contain(effectiveFrom);
    for (const { id, unconfirmed } of models.values())
      for (const text of [`\`${id}\``, ...unconfirmed]) expect(page).to.contain(text);
  });
});

/** What a rule of the sandbox has to be about, for each limit that a model may declare. */
const SUBJECTS: Readonly<Record<keyof ModelLimits, Subject | null>> = {
  promptCharactersMax: 'prompt',
  durations: 'durations',
  resolutions: 'resolutions',
  ratios: 'ratios',
  combinations: 'combinations',
  audio: 'sound',
  imagesMax: 'images made',
  inputImagesMin: 'input images',
  inputImagesMax: 'input images',
  frameImagesMax: 'input images',
  referenceImagesMax: 'input images',
  lastFrameAlone: 'combinations',
  frameBesideReferences: 'combinations',
  inputImagesAsUrls: 'image files',
  inputImageLimits: 'image files',
  inputVideosMax: 'input videos',
  inputVideoSecondsMax: 'input videos',
  inputVideoSecondsTotalMax: 'input videos',
  options: null,
  contextTokens: null,
  outputTokensMax: null,
};

describe('docs/vendor-rules.md', () => {
  const { models } = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
  const media = [...models.values()].filter(({ kind }) => kind !== 'text');

  it('is what `npm run models` makes of the sandbox’s tables', () => {
    expect(readFileSync(VENDOR_RULES_PAGE, 'utf8')).to.equal(composeVendorRulesPage());
  });

  for (const { id, upstreamModel, limits } of media)
    it(`has a rule, proven or not, for every limit of ${id}`, () => {
      const about = new Set(rulesFor(upstreamModel).map((rule) => rule.about));
      const declared = (Object.keys(SUBJECTS) as (keyof ModelLimits)[]).filter((name) => limits[name]);
      const needed = declared.map((name) => SUBJECTS[name]).filter((subject) => subject !== null);
      if (limits.options?.seed) needed.push('seed');
      if (limits.options?.negativePrompt) needed.push('negative prompt');
      if (limits.options?.quality) needed.push('quality');
      if (limits.options?.watermark || limits.options?.promptExtension) needed.push('other');
      expect(needed.filter((subject) => !about.has(subject))).to.deep.equal([]);
    });

  it('has no rule for models that nothing sells', () => {
    const names = media.map(({ upstreamModel }) => upstreamModel.replace(/^dreamina-/, ''));
    const unused = Object.values(RULES)
      .flat()
      .flatMap((rule) => rule.models)
      .filter((beginning) => !names.some((name) => name.startsWith(beginning)));
    expect(unused).to.deep.equal([]);
  });
});
