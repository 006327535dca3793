// From the JSON of catalog.json to the model catalogue, checked at start: every problem is named, all at
// once.
import { z } from 'zod';
import { CATALOG_FILE, MODEL, type Catalog, type Meter, type Model, type PriceLine } from './catalog.ts';

/** What comes on top of the work: alone, these price nothing. */
const EXTRAS: readonly Meter[] = ['input_images', 'input_video_seconds'];

/**
 * The file without its models, which are read one by one, so that a wrong one does not hide what the others
 * lack.
 */
const ENVELOPE = CATALOG_FILE.extend({ models: z.array(z.unknown()) });

const WITH_ID = z.looseObject({ id: MODEL.shape.id });

/** Reads a parsed catalog.json. Throws one Error that names every problem with its path and its model. */
export function parseCatalog(json: unknown): Catalog {
  const envelope = ENVELOPE.safeParse(json);
  const problems = envelope.success ? [] : describeIssues(envelope.error, 'catalog', null);
  const entries = envelope.data?.models ?? [];
  const models: Model[] = [];
  for (const [index, entry] of entries.entries()) {
    const model = MODEL.safeParse(entry);
    if (model.success) models.push(model.data);
    else problems.push(...describeIssues(model.error, `catalog.models[${index}]`, idOf(entry)));
  }
  problems.push(...findRepeatedIds(entries), ...models.flatMap(findUnpriced));
  if (models.filter((model) => model.imagesEndpoint).length > 1)
    problems.push('catalog.models: more than one model is marked imagesEndpoint');
  if (!envelope.success || problems.length > 0)
    throw new Error(`The model catalogue is not valid:\n  ${problems.join('\n  ')}`);
  const byId = new Map(models.map((model) => [model.id, model]));
  return { effectiveFrom: envelope.data.effectiveFrom, models: byId };
}

/**
 * One sentence per issue: `catalog.models[3].limits.imagesMax (veo-3.1): Invalid input: expected number, …`.
 */
export function describeIssues({ issues }: z.core.$ZodError, root: string, id: string | null): string[] {
  const suffix = id === null ? '' : ` (${id})`;
  return issues.map(({ path, message }) => `${root}${path.map(writeKey).join('')}${suffix}: ${message}`);
}

function writeKey(key: PropertyKey): string {
  return typeof key === 'number' ? `[${key}]` : `.${String(key)}`;
}

/** Null for an entry without a readable id. */
export function idOf(entry: unknown): string | null {
  return WITH_ID.safeParse(entry).data?.id ?? null;
}

function findRepeatedIds(entries: readonly unknown[]): string[] {
  const ids = entries.map(idOf).filter((id) => id !== null);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [...new Set(repeated)].map((id) => `catalog.models: an id stands twice: ${id}`);
}

/** Work without a price would be free; it may be where the model says so. */
function findUnpriced({ id, limits, price, free }: Model): string[] {
  if (free) return [];
  const offered = limits.resolutions ?? [undefined];
  const unpriced = offered.filter((resolution) => {
    const isPriced = ({ meter, when, credits }: PriceLine): boolean => {
      const matches = when.resolution === undefined || when.resolution === resolution;
      return matches && !EXTRAS.includes(meter) && credits > 0n;
    };
    return !price.some(isPriced);
  });
  return unpriced.map((resolution) => `catalog.models: ${id} has no price for ${resolution ?? 'its work'}`);
}
