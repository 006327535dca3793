// Prices of texts: USD per million tokens of the vendors' lists, times 200, written down apart from the
// catalogue.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Model } from '../../domain/catalog/catalog.ts';
import { parseCredits } from '../../domain/credits.ts';
import { computeCharge, quote, snapshotPrice, type Evidence } from '../../domain/pricing.ts';
import { resolveTextOrder } from '../../domain/orders/text.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import type { Order } from '../../domain/orders/order.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
const MILLION = 1_000_000;
const LONG = 272_000;

/** Credits for a million tokens; `written`: those that are put into a cache. */
const LISTS: Record<string, { input: number; cached: number; written: number; output: number }> = {
  'gpt-6-luna': { input: 20, cached: 2, written: 25, output: 100 },
  'gpt-6-sol': { input: 400, cached: 40, written: 500, output: 2_000 },
  'gpt-6.1-sol': { input: 400, cached: 20, written: 500, output: 2_000 },
  'gpt-6-astra': { input: 2_000, cached: 200, written: 2_500, output: 10_000 },
  'gpt-6.1-terra': { input: 200, cached: 10, written: 250, output: 1_000 },
};

function find(id: string): Model {
  const model = catalog.models.get(id);
  if (!model) throw new Error(`the catalogue has no ${id}`);
  return model;
}

function orderOf(id: string, promptTokens: number, outputTokens: number, answers = 1): Order {
  const names = { outputTokens: 'max_tokens' };
  return resolveTextOrder(find(id), { promptTokens, outputTokens, answers, names });
}

const estimate = (id: string, order: Order): bigint => quote(snapshotPrice(find(id)), order).total;
const charge = (id: string, order: Order, evidence: Evidence): bigint =>
  computeCharge(snapshotPrice(find(id)), order, evidence).amount;
const credits = (amount: number): bigint => parseCredits(amount.toFixed(6));

describe('the prices of texts', () => {
  it('are written down here for every text model', () => {
    const texts = [...catalog.models.values()].filter(({ kind }) => kind === 'text').map(({ id }) => id);
    expect(texts).to.have.members(Object.keys(LISTS));
  });

  for (const [id, { input, cached, written, output }] of Object.entries(LISTS))
    describe(id, () => {
      const dearest = Math.max(input, written);
      const order = orderOf(id, 100_000, 10_000);
      const evidence = { promptTokens: 80_000, completionTokens: 5_000 };

      it('sets aside a prompt of the dearest kind and the longest answer', () => {
        expect(estimate(id, order)).to.equal(credits(dearest / 10 + output / 100));
      });

      it('sets aside as many answers as are ordered', () => {
        const three = orderOf(id, 100_000, 10_000, 3);
        expect(estimate(id, three)).to.equal(credits(dearest / 10 + (3 * output) / 100));
      });

      it('charges what was consumed', () => {
        expect(charge(id, order, evidence)).to.equal(credits(input * 0.08 + output * 0.005));
      });

      it('charges what came from the cache, and what went into it, at prices of their own', () => {
        const parts = { ...evidence, cachedTokens: 30_000, cacheWriteTokens: 10_000 };
        const expected = input * 0.04 + cached * 0.03 + written * 0.01 + output * 0.005;
        expect(charge(id, order, parts)).to.equal(credits(expected));
      });

      it('charges twice for long prompts, and half as much again for what answers them', () => {
        const long = orderOf(id, 400_000, 10_000);
        expect(estimate(id, long)).to.equal(credits(dearest * 0.8 + output * 0.015));
        const consumed = { promptTokens: LONG + 1, completionTokens: 1_000, cachedTokens: 1_001 };
        const expected = 2 * input * 0.271 + 2 * cached * 0.001001 + output * 0.0015;
        expect(charge(id, long, consumed)).to.equal(credits(Math.ceil(expected * MILLION - 1e-6) / MILLION));
        expect(charge(id, long, { ...consumed, promptTokens: LONG, cachedTokens: 0 })).to.equal(
          credits(input * 0.272 + output * 0.001),
        );
      });

      it('never charges more than was set aside, and books the rest as loss', () => {
        const beyond = { promptTokens: 200_000, completionTokens: 30_000, cacheWriteTokens: 200_000 };
        const { amount, loss } = computeCharge(snapshotPrice(find(id)), order, beyond);
        expect(amount).to.equal(estimate(id, order));
        expect(amount + loss).to.equal(credits(written * 0.2 + output * 0.03));
      });

      it('grows with every token', () => {
        let before = -1n;
        for (const tokens of [0, 1, 10, 1_000, LONG, LONG + 1, 1_000_000]) {
          const amount = estimate(id, orderOf(id, tokens, 1));
          expect(amount > before, String(tokens)).to.equal(true);
          before = amount;
        }
      });
    });

  it('figures of a cache that contradict the prompt never make it dearer than written, nor negative', () => {
    const order = orderOf('gpt-6-luna', 1_000, 10);
    for (const parts of [
      { cachedTokens: 5_000 },
      { cacheWriteTokens: 5_000 },
      { cachedTokens: 900, cacheWriteTokens: 900 },
    ]) {
      const amount = charge('gpt-6-luna', order, { promptTokens: 1_000, completionTokens: 0, ...parts });
      expect(amount >= 0n && amount <= credits(0.025), JSON.stringify(parts)).to.equal(true);
    }
  });
});
