// The estimated tokens of a video: never fewer than the vendor can count.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { frameOf } from '../../../sandbox/seedance/frames.ts';
import type { Model } from '../../../domain/catalog/catalog.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { resolveOrder } from '../../../domain/orders/resolve-order.ts';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';
import type { MediaOrderInput, Order } from '../../../domain/orders/order.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
const models = [...catalog.models.values()].filter(({ family }) => family === 'seedance');
const NAMES = { ratio: 'size', resolution: 'resolution', audio: 'audio', inputImages: 'image_urls' };
const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'];

describe('the tokens of a video', () => {
  it('are what the vendor counts for the size, or at most one percent more', () => {
    for (const model of models)
      for (const resolution of model.limits.resolutions ?? [])
        for (const ratio of RATIOS)
          for (const duration of [4, 5, 12]) {
            const { videoTokens } = order(model, { resolution, ratio, duration });
            const counted = count(model, resolution, ratio, duration);
            const place = `${model.id} ${resolution} ${ratio} ${duration} s`;
            expect(videoTokens, place).to.be.at.least(counted);
            if (model.id !== 'seedance-2.5') expect(videoTokens, place).to.be.at.most(counted * 1.01 + 1);
          }
  });

  it('are those of the largest frame where the vendor chooses the ratio', () => {
    for (const model of models.filter(({ limits }) => limits.ratios?.includes('adaptive')))
      for (const resolution of model.limits.resolutions ?? []) {
        const { videoTokens } = order(model, { resolution, ratio: 'adaptive', duration: 5 });
        const most = Math.max(...RATIOS.map((ratio) => count(model, resolution, ratio, 5)));
        expect(videoTokens, `${model.id} ${resolution}`).to.be.at.least(most);
      }
  });

  it('are those of the largest frame on 2.5, which takes the ratio from a first frame whatever is ordered', () => {
    const largest = count(find('seedance-2.5'), '720p', '4:3', 5);
    expect(order(find('seedance-2.5'), { ratio: '16:9', duration: 5 }).videoTokens).to.be.at.least(largest);
  });

  it('count the seconds of input videos, together at most as many as the vendor takes', () => {
    const model = find('seedance-2.0');
    const withVideos = (videos: number): Order =>
      order(model, {
        duration: 5,
        inputVideos: Array.from({ length: videos }, () => 'https://x.example/a.mp4'),
      });
    expect(withVideos(1).inputVideoSeconds).to.equal(15);
    expect(withVideos(3).inputVideoSeconds).to.equal(15);
    // The tokens are 1280 × 720 pixels × (20 s × 24 + a frame for each of two videos) / 1024.
    expect(withVideos(1).videoTokens).to.equal(433_800);
  });

  it('of 5 seconds in 720p are the 108,900 that the vendor reports', () => {
    expect(order(find('seedance-2.0'), { duration: 5 }).videoTokens).to.equal(108_900);
  });
});

describe('options inside the prompt of a Seedance video', () => {
  it('are refused by every model that reads them, so that nothing else is made than what was priced', () => {
    for (const model of models)
      for (const prompt of [
        'a cat --resolution 1080p',
        'a cat --dur 12',
        'a cat.--rs 1080p',
        'A CAT --RT 1:1',
      ]) {
        const attempt = (): Order => order(model, { prompt });
        expect(attempt, `${model.id}: ${prompt}`).to.throw(GatewayError, 'order them as parameters');
      }
  });

  it('are named in the message, and dashes that are none pass', () => {
    const model = find('seedance-2.0');
    expect(() => order(model, { prompt: 'a cat --duration 15' })).to.throw('such as --duration:');
    for (const prompt of ['a cat -- and a dog', 'a well-known cat', 'a cat — no dog', '1--2'])
      expect(order(model, { prompt }).seconds).to.equal(5);
  });
});

function order(model: Model, input: Partial<MediaOrderInput>): Order {
  return resolveOrder(model, { mode: 'video', prompt: 'a cat', inputImages: [], names: NAMES, ...input });
}

function count(model: Model, resolution: string, ratio: string, seconds: number): number {
  const [width, height] = frameOf(model.upstreamModel, resolution, ratio);
  return Math.floor((width * height * (24 * seconds + 1)) / 1024);
}

function find(id: string): Model {
  const model = catalog.models.get(id);
  if (!model) throw new Error(`the catalogue has no ${id}`);
  return model;
}
