// The operator's margin: every price of the catalogue, so many percent higher.
import type { Catalog } from './catalog.ts';
import { divideRoundingUp } from '../credits.ts';

/**
 * `percent` is a whole number, 0 or more. Each price line is rounded up to a micro-credit; nothing else
 * changes.
 */
export function withMargin(catalog: Catalog, percent: number): Catalog {
  const factor = BigInt(100 + percent);
  const models = [...catalog.models].map(([id, model]) => {
    const price = model.price.map((line) => ({
      ...line,
      credits: divideRoundingUp(line.credits * factor, 100n),
    }));
    return [id, { ...model, price }] as const;
  });
  return { ...catalog, models: new Map(models) };
}
