// The catalogue that this operator offers: read from its file, with the operator's margin, without vendors
// that have no key.
import { readFileSync } from 'node:fs';
import type { Catalog, Model } from '../domain/catalog/catalog.ts';
import { withMargin } from '../domain/catalog/margin.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';
import { isVendorsOwnAddress, type Family } from './families.ts';

/** Null when the file cannot be read or is not valid; why is added to `problems`. */
export function readCatalog(path: string, problems: string[]): Catalog | null {
  try {
    return parseCatalog(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    problems.push(`SVC_CATALOG (${path}): ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** A model that is not offered although its family has a key, and why: a sentence for the operator. */
export interface WithheldModel {
  id: string;
  reason: string;
}

/**
 * Keeps the models whose own family, or one of their upstreams' families, has a key that serves them, and
 * adds the margin to prices.
 */
export function offerModels(
  catalog: Catalog,
  families: Readonly<Record<string, Family>>,
  marginPercent: number,
): { offered: Catalog; withheld: WithheldModel[] } {
  const withheld: WithheldModel[] = [];
  const offered = [...catalog.models].filter(([id, model]) => {
    const names = [model.family, ...model.upstreams.map(({ family }) => family)];
    const keyed = names.flatMap((name) => families[name] ?? []);
    if (keyed.length === 0) return false;
    const reasons = keyed.map((family) => reasonToWithhold(model, family));
    const reason = reasons.every((each) => each !== null) ? reasons[0] : null;
    if (reason) withheld.push({ id, reason });
    return !reason;
  });
  return { offered: withMargin({ ...catalog, models: new Map(offered) }, marginPercent), withheld };
}

/** Null: this family serves the model. */
function reasonToWithhold({ family, endedOn, plainKeysOnly }: Model, settings: Family): string | null {
  if (endedOn !== undefined && isVendorsOwnAddress(family, settings.baseUrl))
    return `its vendor stopped serving it on ${endedOn}: set the base URL of a service that still does`;
  if (plainKeysOnly && settings.credentials.every(({ key }) => key.includes(':')))
    return 'its vendor takes plain API keys for it, and every configured key is a pair of access key and secret key';
  return null;
}
