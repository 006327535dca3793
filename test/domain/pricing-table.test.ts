// Golden prices: the table of every family, written down apart from the catalogue, equals what the catalogue
// charges.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Model } from '../../domain/catalog/catalog.ts';
import { parseCredits } from '../../domain/credits.ts';
import { computeCharge, quote, snapshotPrice, type Evidence } from '../../domain/pricing.ts';
import { parseCatalog } from '../../domain/catalog/parse-catalog.ts';
import { orderOf } from '../support/orders.ts';
import type { PricingRow } from './pricing-table/row.ts';
import type { Order } from '../../domain/orders/order.ts';

const catalog = parseCatalog(JSON.parse(readFileSync('catalog.json', 'utf8')));

const folder = new URL('pricing-table/', import.meta.url);
const files = readdirSync(folder).filter((name) => name !== 'row.ts');
const tables = await Promise.all(
  files.map(async (name) => {
    const { ROWS } = (await import(new URL(name, folder).href)) as { ROWS: readonly PricingRow[] };
    return { family: name.replace('.ts', ''), rows: ROWS };
  }),
);

for (const { family, rows } of tables) {
  describe(`the prices of ${family}`, () => {
    for (const { model, order, credits } of rows) {
      it(`${model} ${JSON.stringify(order)} is estimated at ${credits} credits`, () => {
        expect(total(find(model), orderOf(order))).to.equal(parseCredits(credits));
      });
    }

    it('grow with the seconds where seconds are billed, and stay where the task is', () => {
      for (const { model, order } of rows) {
        const { billingMode } = find(model);
        const at = (seconds: number): bigint => total(find(model), orderOf({ ...order, seconds }));
        const { seconds = 0 } = order;
        if (billingMode === 'per_second')
          expect(at(seconds) - at(0), model).to.equal(BigInt(seconds) * (at(1) - at(0)));
        if (billingMode === 'per_task')
          expect(charge(model, order, { seconds: seconds / 2 }), model).to.equal(at(seconds));
      }
    });

    it('are never exceeded by a charge, whatever the vendor says', () => {
      for (const { model, order, credits } of rows) {
        const beyond: Evidence = {
          images: (order.images ?? 1) * 3,
          seconds: (order.seconds ?? 1) * 3,
          inputVideoSeconds: (order.inputVideoSeconds ?? 1) * 3,
          tokens: (order.videoTokens ?? 1) * 3,
          vendorCost: parseCredits(credits) * 3n,
        };
        expect(charge(model, order, beyond), model).to.equal(parseCredits(credits));
      }
    });
  });
}

describe('the table of prices', () => {
  it('covers every resolution of every picture and video model', () => {
    const rows = tables.flatMap((table) => table.rows);
    const covered = new Set(rows.map(({ model, order }) => `${model} ${order.resolution ?? null}`));
    const offered = [...catalog.models.values()]
      .filter(({ kind }) => kind !== 'text')
      .flatMap(({ id, limits }) => (limits.resolutions ?? [null]).map((resolution) => `${id} ${resolution}`));
    expect(offered.filter((model) => !covered.has(model))).to.deep.equal([]);
  });
});

function total(model: Model, order: Order): bigint {
  return quote(snapshotPrice(model), order).total;
}

function charge(model: string, order: Partial<Order>, evidence: Evidence): bigint {
  return computeCharge(snapshotPrice(find(model)), orderOf(order), evidence).amount;
}

function find(id: string): Model {
  const model = catalog.models.get(id);
  if (!model) throw new Error(`the catalogue has no ${id}`);
  return model;
}
