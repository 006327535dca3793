// Model-specific options: what a model declares is taken, all else is refused by name.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { optionNames } from '../../../domain/orders/options.ts';
import type { MediaOptions, MediaOrderInput, Order } from '../../../domain/orders/order.ts';
import { renewOrder, resolveOrder } from '../../../domain/orders/resolve-order.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
const NAMES = { ratio: 'size', resolution: 'resolution', audio: 'audio', inputImages: 'image_urls' };

function find(id: string) {
  const model = catalog.models.get(id);
  if (!model) throw new Error(`the catalogue has no ${id}`);
  return model;
}

function orderWith(id: string, options: MediaOptions, changes: Partial<MediaOrderInput> = {}): Order {
  const model = find(id);
  const mode = model.kind === 'image' ? 'image' : 'video';
  const input: MediaOrderInput = {
    mode,
    prompt: 'a cat',
    inputImages: [],
    names: NAMES,
    options,
    ...changes,
  };
  return resolveOrder(model, input);
}

/** The parameter and the sentence of the refusal. */
function refusal(id: string, options: MediaOptions, changes: Partial<MediaOrderInput> = {}): string {
  try {
    orderWith(id, options, changes);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${String(error.param)}: ${error.message}`;
  }
}

describe('an option of an order', () => {
  it('is taken where the model declares it, and stays in a retry', () => {
    const order = orderWith('viduq3-pro', { seed: 7 });
    expect(order.seed).to.equal(7);
    expect(renewOrder(find('viduq3-pro'), order)).to.deep.equal(order);
    const image = orderWith('gpt-image-2.5-flare', { quality: 'low' });
    expect(image.quality).to.equal('low');
    expect(renewOrder(find('gpt-image-2.5-flare'), image)).to.deep.equal(image);
  });

  it('has the default of the model where it is left out', () => {
    expect(orderWith('gpt-image-2.5-flare', {}).quality).to.equal('medium');
    expect(orderWith('gpt-image-2', {}).quality).to.equal(null);
    expect(orderWith('viduq3-pro', {}).seed).to.equal(null);
  });

  const refusals: [model: string, options: MediaOptions, sentence: RegExp][] = [
    [
      'kling-3.0',
      { unknown: ['camera'] },
      /^metadata.camera: .* kling-3.0 takes only resolution, audio, first_frame/,
    ],
    ['kling-3.0', { seed: 7 }, /^metadata.seed: .* kling-3.0 takes/],
    ['viduq3-pro', { seed: 1.5 }, /^metadata.seed: .* integer from 0 to 2147483647/],
    ['viduq3-pro', { seed: -1 }, /^metadata.seed: .* integer from 0/],
    ['viduq3-pro', { negativePrompt: 'rain' }, /^metadata.negative_prompt: .* viduq3-pro takes/],
    ['kling-v2-6', { negativePrompt: 'x'.repeat(2501) }, /^metadata.negative_prompt: .* at most 2500/],
    ['gpt-image-2', { quality: 'high' }, /^metadata.quality: .* gpt-image-2 takes/],
    ['gpt-image-2.5-flare', { quality: 'high' }, /^metadata.quality: .* low, medium/],
  ];
  for (const [model, options, sentence] of refusals)
    it(`is refused by name: ${JSON.stringify(options).slice(0, 60)} of ${model}`, () => {
      expect(refusal(model, options)).to.match(sentence);
    });

  it('that names frames is never taken for references', () => {
    const names = { ...NAMES, inputImages: 'metadata.first_frame' };
    const frames = { names, inputImages: ['https://a.example/1.png', 'https://a.example/2.png'] };
    expect(orderWith('seedance-2.0', {}, frames).imageRole).to.equal('first_and_last_frame');
    expect(refusal('grok-imagine-video', {}, frames)).to.match(/^metadata.first_frame: /);
  });

  it('that names a last frame alone, or a frame beside references, needs a model that has it', () => {
    const alone = { inputImages: ['https://a.example/1.png'], imageRole: 'last_frame' } as const;
    const beside = (references: number) =>
      ({
        inputImages: Array.from({ length: references + 1 }, () => 'https://a.example/1.png'),
        imageRole: 'first_frame_and_references',
      }) as const;
    const order = orderWith('grok-imagine-video-1.5', {}, alone);
    expect(order.imageRole).to.equal('last_frame');
    expect(renewOrder(find('grok-imagine-video-1.5'), order)).to.deep.equal(order);
    expect(refusal('seedance-2.0', {}, alone)).to.match(/^metadata.first_frame: .* needs both/);
    expect(orderWith('grok-imagine-video-1.5', {}, beside(7)).imageRole).to.equal(beside(7).imageRole);
    expect(refusal('grok-imagine-video-1.5', {}, beside(8))).to.match(/^reference_images: .* 1 to 7/);
    expect(refusal('kling-3.0-omni', {}, beside(7))).to.match(/^reference_images: .* 1 to 6/);
    expect(refusal('seedance-2.0', {}, beside(1))).to.match(/^metadata.first_frame: .* either/);
  });

  it('for the mark and the prompt is sent as ordered, or as nothing of the vendor’s default', () => {
    expect(orderWith('wan3.0-video', {})).to.include({ watermark: false, promptExtension: true });
    const options = { watermark: true, promptExtension: false };
    expect(orderWith('wan3.0-video', options)).to.include(options);
    expect(orderWith('kling-v2-6', {})).to.include({ watermark: null, promptExtension: null });
    expect(refusal('kling-v2-6', { watermark: true })).to.match(/^metadata.watermark: .* takes/);
    expect(refusal('seedance-2.0', { promptExtension: true })).to.match(/^metadata.prompt_extend: /);
  });

  it('is named in the list of each model as its limits have it', () => {
    expect(optionNames(find('kling-v2-6'))).to.deep.equal([
      'resolution',
      'audio',
      'negative_prompt',
      'first_frame',
      'last_frame',
    ]);
    expect(optionNames(find('gpt-image-2'))).to.deep.equal(['resolution']);
  });
});
