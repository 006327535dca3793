// An operator's own catalogue on top of the delivered one: models added, changed or removed by id.
import { z } from 'zod';
import { CATALOG_FILE, DEFAULTS, LIMITS, MODEL, type Catalog } from './catalog.ts';
import { describeIssues, idOf, parseCatalog } from './parse-catalog.ts';

/** What an entry may say: all members of a model, and none but the id must be there. */
const ENTRY = MODEL.partial()
  .extend({
    id: MODEL.shape.id,
    limits: LIMITS.partial().exactOptional(),
    defaults: DEFAULTS.partial().exactOptional(),
  })
  .describe(
    'A new model, or changes to the model of this id: `limits` and `defaults` member by member, other members as a ' +
      'whole. A new text model needs `id`, `family`, and a price or `free`.',
  );

export const OVERLAY_FILE = z
  .strictObject({
    $schema: z.string().exactOptional(),
    remove: z.array(MODEL.shape.id).default([]).describe('Ids of models that are not offered.'),
    models: z.array(ENTRY).default([]),
  })
  .describe('Models that are added to catalog.json, changed in it, or removed from it.');

/** The overlay without its models, which are read one by one, as in parseCatalog. */
const ENVELOPE = OVERLAY_FILE.extend({ models: z.array(z.unknown()).default([]) });

/** What a new text model need not say. */
const NEW_TEXT_MODEL = { kind: 'text', adapter: 'openai-chat', billingMode: 'per_token' } as const;
/** No shorter than a body of 1 MiB can be, so the context alone decides. */
const PROMPT_CHARACTERS_MAX = 1_048_576;
const DEFAULT_OUTPUT_TOKENS = 4_096;

/** Catalogue and overlay in one. */
export interface OverlaidCatalog {
  catalog: Catalog;
  /** Ids of the models that the overlay adds or changes. */
  ownIds: ReadonlySet<string>;
}

type Entry = Readonly<Record<string, unknown>>;

/**
 * Applies a parsed overlay to a parsed catalog.json. Throws one Error that names every problem with its path
 * and its model.
 */
export function parseOverlaidCatalog(catalogJson: unknown, overlayJson: unknown): OverlaidCatalog {
  const delivered = parseCatalog(catalogJson);
  const overlay = ENVELOPE.safeParse(overlayJson);
  if (!overlay.success) throw problemsError(describeIssues(overlay.error, 'overlay', null));
  const { remove, models: entries } = overlay.data;
  const base = new Map(CATALOG_ENTRIES.parse(catalogJson).models.map((entry) => [entry.id, entry]));
  const problems = remove.flatMap((id, index) =>
    base.has(id) ? [] : [`overlay.remove[${index}]: there is no model ${id} to remove`],
  );
  for (const id of remove) base.delete(id);
  const ownIds = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `overlay.models[${index}]`;
    const id = idOf(entry);
    const checked = ENTRY.safeParse(entry);
    if (!checked.success || id === null || !isEntry(entry)) {
      problems.push(...(checked.error ? describeIssues(checked.error, path, id) : []));
      continue;
    }
    if (ownIds.has(id)) problems.push(`${path} (${id}): this id stands twice`);
    if (remove.includes(id)) problems.push(`${path} (${id}): this model is removed by the same file`);
    ownIds.add(id);
    const merged = mergeEntry(base.get(id), entry, delivered.effectiveFrom);
    const model = MODEL.safeParse(merged);
    if (model.success) base.set(id, { ...merged, id });
    else problems.push(...describeIssues(model.error, path, id));
  }
  if (problems.length > 0) throw problemsError(problems);
  const catalog = parseCatalog({ effectiveFrom: delivered.effectiveFrom, models: [...base.values()] });
  return { catalog, ownIds };
}

const CATALOG_ENTRIES = CATALOG_FILE.extend({ models: z.array(z.looseObject({ id: MODEL.shape.id })) });

function problemsError(problems: readonly string[]): Error {
  return new Error(`The overlay of the model catalogue is not valid:\n  ${problems.join('\n  ')}`);
}

/** The entry over what it changes; over the defaults of a text model when it is new. */
function mergeEntry(known: Entry | undefined, entry: Entry, effectiveFrom: string): Entry {
  const below = known ?? newModel(entry, effectiveFrom);
  return {
    ...below,
    ...entry,
    limits: { ...membersOf(below['limits']), ...membersOf(entry['limits']) },
    defaults: { ...membersOf(below['defaults']), ...membersOf(entry['defaults']) },
  };
}

function newModel(entry: Entry, effectiveFrom: string): Entry {
  const created = Math.trunc(Date.parse(effectiveFrom) / 1000);
  if ((entry['kind'] ?? 'text') !== 'text') return { created };
  return {
    ...NEW_TEXT_MODEL,
    created,
    upstreamModel: entry['id'],
    price: entry['free'] === true ? [] : undefined,
    limits: { promptCharactersMax: PROMPT_CHARACTERS_MAX },
    defaults: { outputTokens: DEFAULT_OUTPUT_TOKENS },
  };
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function membersOf(value: unknown): Entry {
  return isEntry(value) ? value : {};
}
