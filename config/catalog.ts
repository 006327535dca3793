// The catalogue that this operator offers: read from its file, with the operator's margin, without vendors
// that have no key.
import { readFileSync } from 'node:fs';
import { ADAPTERS } from '../domain/catalog/adapters.ts';
import type { Catalog, Model } from '../domain/catalog/catalog.ts';
import { withMargin } from '../domain/catalog/margin.ts';
import { parseOverlaidCatalog, type OverlaidCatalog } from '../domain/catalog/overlay.ts';
import { parseCatalog } from '../domain/catalog/parse-catalog.ts';
import { isVertexUrl } from '../domain/catalog/vertex.ts';
import { isDefaultHost, isVendorsOwnAddress, variableOf, type Family } from './families.ts';
import { explainInsecure, explainUnserved } from './upstreams.ts';

const TEXT_ADAPTER = 'openai-chat';

/**
 * Reads SVC_CATALOG, with SVC_CATALOG_OVERLAY on top where it is set. Null when a file cannot be read or is
 * not valid; why is added to `problems`.
 */
export function readCatalog(
  paths: { catalog: string; overlay: string | null },
  problems: string[],
): OverlaidCatalog | null {
  const catalogJson = readJson('SVC_CATALOG', paths.catalog, problems);
  const overlayJson =
    paths.overlay === null ? null : readJson('SVC_CATALOG_OVERLAY', paths.overlay, problems);
  if (catalogJson === undefined || overlayJson === undefined) return null;
  const named = explained('SVC_CATALOG', paths.catalog, problems, () => parseCatalog(catalogJson));
  if (named === null) return null;
  if (paths.overlay === null) return { catalog: named, ownIds: new Set() };
  return explained('SVC_CATALOG_OVERLAY', paths.overlay, problems, () =>
    parseOverlaidCatalog(catalogJson, overlayJson),
  );
}

/** Undefined when the file cannot be read or is no JSON. */
function readJson(setting: string, path: string, problems: string[]): unknown {
  return explained(setting, path, problems, () => JSON.parse(readFileSync(path, 'utf8'))) ?? undefined;
}

/** Null when `read` throws; why is added to `problems`, with the setting and its file. */
function explained<Result>(
  setting: string,
  path: string,
  problems: string[],
  read: () => Result,
): Result | null {
  try {
    return read();
  } catch (error) {
    problems.push(`${setting} (${path}): ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** A model that is not offered although its family has a key, and why: a sentence for the operator. */
export interface WithheldModel {
  id: string;
  reason: string;
}

/**
 * Keeps the models that one of their upstreams, or without any their family, can serve, and adds the margin
 * to prices.
 */
export function offerModels(
  catalog: Catalog,
  families: Readonly<Record<string, Family>>,
  marginPercent: number,
): { offered: Catalog; withheld: WithheldModel[] } {
  const withheld: WithheldModel[] = [];
  const offered = [...catalog.models].filter(([id, model]) => {
    if (model.upstreams.length > 0)
      return model.upstreams.some((upstream) => explainUnserved(upstream, families) === null);
    const family = families[model.family];
    if (!family || family.credentials.length === 0) return false;
    const reason = reasonToWithhold(model, family);
    if (reason) withheld.push({ id, reason });
    return !reason;
  });
  const models = new Map(offered.map(([id, model]) => [id, asServed(model, families[model.family])]));
  return { offered: withMargin({ ...catalog, models }, marginPercent), withheld };
}

/** The model with the choices that it has at this family's address. */
function asServed(model: Model, family: Family | undefined): Model {
  if (!model.silentAtVertexOnly || (family !== undefined && isVertexUrl(family.baseUrl))) return model;
  return { ...model, limits: { ...model.limits, audio: [true] } };
}

/**
 * What keeps the operator's own entries from being served, and any upstream from being called safely: one
 * sentence each, with the model's id.
 */
export function findUnservable(
  { catalog, ownIds }: OverlaidCatalog,
  families: Readonly<Record<string, Family>>,
  isProduction: boolean,
): string[] {
  return [...catalog.models.values()].flatMap((model) => {
    const unsafe = model.upstreams.map((upstream) => explainInsecure(upstream, families, isProduction));
    const reasons = ownIds.has(model.id) ? [...unsafe, ...reasonsUnservable(model, families)] : unsafe;
    return [...new Set(reasons)].flatMap((reason) => (reason === null ? [] : [`${model.id}: ${reason}`]));
  });
}

function reasonsUnservable(model: Model, families: Readonly<Record<string, Family>>): (string | null)[] {
  const { kind, family: name, adapter } = model;
  const isTextAdapter = adapter === TEXT_ADAPTER;
  if ((kind === 'text') !== isTextAdapter) return [`the adapter ${adapter} makes no ${kind}`];
  if (model.upstreams.length > 0)
    return model.upstreams.map((upstream) => explainUnserved(upstream, families));
  if (!isTextAdapter && name !== ADAPTERS[adapter])
    return [`the adapter ${adapter} works for the family ${ADAPTERS[adapter]}, not for ${name}`];
  const family = families[name];
  if (!family || family.credentials.length === 0)
    return [`the family ${name} has no key: set ${variableOf(name, 'API_KEY')}`];
  return [reasonToWithhold(model, family)];
}

/** Null: this family serves the model. */
function reasonToWithhold(
  { family, endedOn, plainKeysOnly, vertexOnly }: Model,
  settings: Family,
): string | null {
  if (endedOn !== undefined && isVendorsOwnAddress(family, settings.baseUrl))
    return `its vendor stopped serving it on ${endedOn}: set the base URL of a service that still does`;
  if (vertexOnly && isDefaultHost(family, settings.baseUrl))
    return `its vendor serves it on Vertex alone: set ${variableOf(family, 'BASE_URL')} to a project’s address there`;
  if (plainKeysOnly && settings.credentials.every(({ key }) => key.includes(':')))
    return 'its vendor takes plain API keys for it, and every configured key is a pair of access key and secret key';
  return null;
}
