// The longest answers that an amount covers: as many tokens as fit, never one more, and no limit of ours
// where it covers all that the model can answer.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';
import { fitAnswers, quoteLongest } from '../../../domain/orders/answer-length.ts';
import { answerBounds, resolveTextOrder } from '../../../domain/orders/text.ts';
import { quote, snapshotPrice } from '../../../domain/pricing.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
const texts = [...catalog.models.values()].filter(({ kind }) => kind === 'text');
const names = { outputTokens: 'max_tokens' };

describe('the longest answers that an amount covers', () => {
  it('cost at most the amount, and one token more would not', () => {
    const calls = fc.record({
      model: fc.constantFrom(...texts),
      promptTokens: fc.integer({ min: 1, max: 400_000 }),
      answers: fc.integer({ min: 1, max: 8 }),
      share: fc.integer({ min: 0, max: 1_000 }),
    });
    const property = fc.property(calls, ({ model, share, promptTokens, answers }) => {
      const price = snapshotPrice(model);
      const limit = { outputTokens: undefined, answers, names };
      const order = resolveTextOrder(model, { promptTokens, ...limit });
      const bounds = answerBounds(model, limit);
      const [least, most] = [quote(price, order).total, quoteLongest(price, order, bounds)];
      const amount = least + ((most - least) * BigInt(share)) / 1_000n;
      const fitted = fitAnswers(price, order, bounds, amount);
      const costWith = (more: number) =>
        quote(price, { ...fitted, outputTokens: fitted.outputTokens + more * answers }).total;
      expect(costWith(0) <= amount, 'covered').to.equal(true);
      expect(fitted.outputTokens % answers).to.equal(0);
      if (fitted.answerLimitedBy === 'model') expect(fitted.outputTokens).to.equal(bounds.most * answers);
      else expect(costWith(1) > amount, 'the most that is').to.equal(true);
      expect(fitted.answerLimitedBy).to.equal(amount >= most ? 'model' : 'gateway');
    });
    fc.assert(property, { seed: 1, numRuns: 500 });
  });

  it('are those of the caller’s limit, whatever there is', () => {
    for (const model of texts) {
      const limit = { outputTokens: 300, answers: 2, names };
      const order = resolveTextOrder(model, { promptTokens: 10, ...limit });
      const bounds = answerBounds(model, limit);
      const rich = fitAnswers(snapshotPrice(model), order, bounds, 10n ** 15n);
      expect(rich, model.id).to.deep.equal(order);
      expect(rich).to.include({ outputTokens: 600, answerLimitedBy: 'caller' });
    }
  });
});
