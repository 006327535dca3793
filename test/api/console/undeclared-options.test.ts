// What a model of the catalogue does not declare is refused with 400 on every surface that orders it, before
// any credit moves, any row is written or any vendor is asked.
import { expect } from 'chai';
import type { Model, ModelLimits } from '../../../domain/catalog/catalog.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import type { Answer } from '../../support/http/http.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const LINK = 'https://media.example.com/1.png';

type Excess = [param: RegExp, fields: Record<string, unknown>];

describe('what a model does not declare', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(1_000_000);
  });
  after(() => gateway.stop());

  it('is refused by name, for every model of images and videos, and costs nothing', async () => {
    const models = [...gateway.services.catalog.models.values()].filter(({ kind }) => kind !== 'text');
    expect(models).to.have.length.above(30);
    await expectNoEffect(gateway, async () => {
      let answered: Answer | null = null;
      for (const model of models)
        for (const excess of beyondLimits(model)) answered = await expectRefused(model, excess);
      if (!answered) throw new Error('nothing was asked');
      return answered;
    });
  });

  async function expectRefused(model: Model, [param, fields]: Excess): Promise<Answer> {
    const order = { mode: model.kind, model: model.id, prompt: 'a fox', ...neededBy(model), ...fields };
    const told = `${model.id} ${JSON.stringify(fields).slice(0, 200)}`;
    const created = await owner.session.post('/api/tasks', order);
    expect([created.status, created.body.error?.code], told).to.deep.equal([400, 'invalid_value']);
    expect(created.body.error.param, told).to.match(param);
    const estimated = await owner.session.post('/api/estimates', order);
    expect(estimated.body.error?.param, told).to.equal(created.body.error.param);
    return created;
  }
});

/** What an order of this model cannot be without. */
function neededBy({ limits }: Model): object {
  const { inputImagesMin = 0 } = limits;
  return inputImagesMin > 0 ? { image_urls: linksOf(inputImagesMin) } : {};
}

/** One order beyond each limit, and for each option that the model does not have. */
function* beyondLimits(model: Model): Generator<Excess> {
  const { limits } = model;
  const { resolutions, ratios, durations, audio, options = {}, inputVideosMax = 0 } = limits;
  yield [/resolution/, { resolution: '8k' }];
  if (!resolutions?.includes('360p')) yield [/^metadata\.resolution$/, { metadata: { resolution: '360p' } }];
  if (!ratios?.includes('7:3')) yield [/^size$/, { size: '7:3' }];
  yield* beyondInputs(model, inputVideosMax);
  if (!options.seed) yield [/^metadata\.seed$/, { metadata: { seed: 1 } }];
  else yield [/^metadata\.seed$/, { metadata: { seed: options.seed.max + 1 } }];
  const negative = 'n'.repeat((options.negativePrompt?.charactersMax ?? 0) + 1);
  yield [/^metadata\.negative_prompt$/, { metadata: { negative_prompt: negative } }];
  yield [/^metadata\.quality$/, { metadata: { quality: 'extreme' } }];
  if (!options.watermark) yield [/^metadata\.watermark$/, { metadata: { watermark: false } }];
  if (!options.promptExtension) yield [/^metadata\.prompt_extend$/, { metadata: { prompt_extend: true } }];
  yield [/^metadata\.camera_fixed$/, { metadata: { camera_fixed: true } }];
  if (model.kind === 'image') yield [/^n$/, { n: (limits.imagesMax ?? 1) + 1 }];
  else yield* beyondDurations(durations, audio);
}

function* beyondInputs({ kind, limits }: Model, inputVideosMax: number): Generator<Excess> {
  const { inputImagesMin = 0, inputImagesMax = 0, frameImagesMax = 1 } = limits;
  yield [/^image_urls$/, { image_urls: linksOf(inputImagesMax + 1) }];
  if (inputImagesMin > 0) yield [/^image_urls$/, { image_urls: [] }];
  if (kind === 'image') return;
  yield [/^video_urls$/, { video_urls: linksOf(inputVideosMax + 1) }];
  const frames = inputImagesMax > 0 ? frameImagesMax : 0;
  const both = { metadata: { first_frame: LINK, last_frame: LINK }, image_urls: undefined };
  if (frames < 2) yield [/^(metadata\.(first|last)_frame|image_urls)$/, both];
}

function* beyondDurations(
  durations: ModelLimits['durations'],
  audio: ModelLimits['audio'],
): Generator<Excess> {
  if (durations) {
    const [least, most] =
      'values' in durations
        ? [Math.min(...durations.values), Math.max(...durations.values)]
        : [durations.min, durations.max];
    yield [/^duration$/, { duration: most + 1 }];
    if (least > 1) yield [/^duration$/, { duration: least - 1 }];
  }
  for (const isOn of [true, false])
    if (!audio?.includes(isOn)) yield [/^metadata\.audio$/, { metadata: { audio: isOn } }];
}

function linksOf(count: number): string[] {
  return Array.from({ length: count }, () => LINK);
}
