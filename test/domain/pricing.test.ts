// Estimates and charges of every model in the catalogue.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Model } from '../../domain/catalog/catalog.ts';
import { parseCredits } from '../../domain/credits.ts';
import { computeCharge, quote, snapshotPrice, type Evidence } from '../../domain/pricing.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import { orderOf } from '../support/orders.ts';
import type { Order } from '../../domain/orders/order.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));

describe('pricing', () => {
  const estimates: [model: string, order: Partial<Order>, credits: string][] = [
    ['gpt-image-2', { images: 1, resolution: '1K' }, '4'],
    ['gpt-image-2', { images: 1, resolution: '2K' }, '10'],
    ['gpt-image-2', { images: 1, resolution: '4K' }, '18'],
    ['gpt-image-2', { images: 4, resolution: '1K' }, '16'],
    ['gpt-image-2', { images: 10, resolution: '4K' }, '180'],
    ['grok-imagine-video', { seconds: 1, resolution: '480p' }, '10'],
    ['grok-imagine-video', { seconds: 8, resolution: '720p' }, '112'],
    ['grok-imagine-video', { seconds: 8, resolution: '720p', inputImages: 1 }, '112.4'],
    ['grok-imagine-video', { seconds: 15, resolution: '480p' }, '150'],
    ['grok-imagine-video-1.5', { seconds: 10, resolution: '1080p', inputImages: 1 }, '502'],
    ['grok-imagine-video-1.5-lite', { seconds: 10, resolution: '480p' }, '40'],
  ];
  for (const [model, order, credits] of estimates)
    it(`${model} ${JSON.stringify(order)} is estimated at ${credits} credits`, () => {
      expect(quote(snapshotPrice(find(model)), orderOf(order)).total).to.equal(parseCredits(credits));
    });

  it('per second is linear in the seconds', () => {
    const price = snapshotPrice(find('grok-imagine-video'));
    const one = quote(price, orderOf({ seconds: 1, resolution: '720p' })).total;
    for (let seconds = 1; seconds <= 15; seconds += 1)
      expect(quote(price, orderOf({ seconds, resolution: '720p' })).total).to.equal(one * BigInt(seconds));
  });

  it('every combination that a model offers has a price', () => {
    for (const model of catalog.models.values()) {
      const { resolutions = [null], audio: audios = [model.defaults.audio ?? null] } = model.limits;
      for (const resolution of resolutions)
        for (const audio of audios.filter((audio) => isOffered(model, resolution, audio))) {
          const tokens = { videoTokens: 1, promptTokens: 1, outputTokens: 1 };
          const units = { images: 1, seconds: model.defaults.duration ?? 1, ...tokens };
          const total = quote(snapshotPrice(model), orderOf({ ...units, resolution, audio })).total;
          expect(total > 0n, `${model.id} ${resolution} ${audio}`).to.equal(true);
        }
    }
  });

  describe('a charge for an 8 second video estimated at 112 credits', () => {
    const cases: [evidence: Evidence, amount: string, loss: string][] = [
      [{}, '112', '0'],
      [{ seconds: 8 }, '112', '0'],
      [{ seconds: 6.5 }, '91', '0'],
      [{ seconds: 0 }, '0', '0'],
      [{ seconds: 24 }, '112', '224'],
      [{ seconds: 8, vendorCost: parseCredits('112') }, '112', '0'],
      [{ seconds: 8, vendorCost: parseCredits('336') }, '112', '224'],
      [{ seconds: 4, vendorCost: parseCredits('112') }, '56', '56'],
      [{ vendorCost: parseCredits('999999999') }, '112', '0'], // nonsense counts as not said
    ];
    for (const [evidence, amount, loss] of cases)
      it(`with evidence ${show(evidence)} is ${amount}, and the operator loses ${loss}`, () => {
        const price = snapshotPrice(find('grok-imagine-video'));
        const charged = computeCharge(price, orderOf({ seconds: 8, resolution: '720p' }), evidence);
        expect(charged).to.deep.equal({ amount: parseCredits(amount), loss: parseCredits(loss) });
      });
  });

  it('charges for two images when two of four came', () => {
    const order = orderOf({ images: 4, resolution: '2K' });
    expect(computeCharge(snapshotPrice(find('gpt-image-2')), order, { images: 2 }).amount).to.equal(
      20_000_000n,
    );
  });

  it('never charges more than the estimate, whatever the evidence', () => {
    const price = snapshotPrice(find('grok-imagine-video'));
    const order = orderOf({ seconds: 7, resolution: '480p', inputImages: 1 });
    const { total } = quote(price, order);
    for (const seconds of [0, 0.000001, 1 / 3, 6.999999, 7, 7.000001, 1e6, 1e9]) {
      const { amount, loss } = computeCharge(price, order, { seconds });
      expect(amount <= total && amount >= 0n && loss >= 0n, String(seconds)).to.equal(true);
    }
  });
});

function find(id: string): Model {
  const model = catalog.models.get(id);
  if (!model) throw new Error(`the catalogue has no ${id}`);
  return model;
}

/** Returns true where no rule of the model excludes the two together. */
function isOffered({ limits }: Model, resolution: string | null, audio: boolean | null): boolean {
  return (limits.combinations ?? []).every(
    (rule) => rule.resolution !== resolution || audio === null || (rule.audio?.includes(audio) ?? true),
  );
}

function show(evidence: Evidence): string {
  return JSON.stringify(evidence, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}
