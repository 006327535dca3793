// The operator's margin on the catalogue's prices.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadConfig } from '../../../config/config.ts';
import type { Catalog } from '../../../domain/catalog/catalog.ts';
import { withMargin } from '../../../domain/catalog/margin.ts';
import { parseCatalog } from '../../../domain/catalog/parse-catalog.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));
const pricesOf = ({ models }: Catalog): bigint[] =>
  [...models.values()].flatMap(({ price }) => price.map(({ credits }) => credits));

describe('the margin', () => {
  it('of 0 percent changes nothing', () => {
    expect(withMargin(catalog, 0)).to.deep.equal(catalog);
  });

  it('raises every price line by so many percent, rounded up to a micro-credit', () => {
    for (const percent of [1, 15, 33, 100, 1000]) {
      const raised = pricesOf(withMargin(catalog, percent));
      pricesOf(catalog).forEach((credits, index) => {
        const exact = credits * BigInt(100 + percent);
        const price = raised[index] ?? 0n;
        expect(price * 100n >= exact && (price - 1n) * 100n < exact, `${credits}`).to.equal(true);
      });
    }
  });

  it('leaves everything else as it is, and the catalogue it was given', () => {
    const before = pricesOf(catalog);
    const [model] = withMargin(catalog, 20).models.values();
    const [original] = catalog.models.values();
    expect({ ...model, price: [] }).to.deep.equal({ ...original, price: [] });
    expect(model?.price.map(({ item, when }) => ({ item, when }))).to.deep.equal(
      original?.price.map(({ item, when }) => ({ item, when })),
    );
    expect(pricesOf(catalog)).to.deep.equal(before);
  });

  const env = {
    DATABASE_URL: 'postgres://localhost/x',
    SVC_SECRET_KEYS: `k:${Buffer.alloc(32).toString('base64url')}`,
    OPENAI_API_KEY: 'sk-x',
  };
  const priceWith = (margin: Record<string, string>): bigint | undefined =>
    loadConfig({ ...env, ...margin }).catalog.models.get('gpt-image-2')?.price[0]?.credits;

  it('is set by the operator, and 0 by default', () => {
    expect(priceWith({})).to.equal(4_000_000n);
    expect(priceWith({ SVC_PRICE_MARGIN_PERCENT: '25' })).to.equal(5_000_000n);
  });

  for (const value of ['-1', '1.5', 'much', '1001'])
    it(`may not be ${value}`, () => {
      expect(() => priceWith({ SVC_PRICE_MARGIN_PERCENT: value })).to.throw('SVC_PRICE_MARGIN_PERCENT');
    });
});
