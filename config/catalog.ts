// The catalogue that this operator offers: read from its file, with the operator's margin, without vendors
// that have no key.
import { readFileSync } from 'node:fs';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { withMargin } from '../domain/catalog/margin.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';

/** Null when the file cannot be read or is not valid; why is added to `problems`. */
export function readCatalog(path: string, problems: string[]): Catalog | null {
  try {
    return parseCatalog(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    problems.push(`SVC_CATALOG (${path}): ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/**
 * Keeps the models whose own family, or one of their upstreams' families, has a key, and adds the margin to
 * prices.
 */
export function offerModels(
  catalog: Catalog,
  families: Readonly<Record<string, unknown>>,
  marginPercent: number,
): Catalog {
  const offered = [...catalog.models].filter(([, { family, upstreams }]) =>
    [family, ...upstreams.map((upstream) => upstream.family)].some((name) => families[name] !== undefined),
  );
  return withMargin({ ...catalog, models: new Map(offered) }, marginPercent);
}
