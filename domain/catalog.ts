// The model catalogue: what each model offers and what it costs. Data comes from catalog.json and is checked at start.
import { parseCredits, type MicroCredits } from './credits.ts';
import { TASK_MODES, type TaskMode } from './tasks.ts';

export const BILLING_MODES = ['per_task', 'per_second', 'per_image', 'per_token'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** What a price line counts, and the unit that one price is for. */
export const METERS = {
  tasks: 'task',
  images: 'image',
  seconds: 'second',
  input_images: 'image',
} as const;
export type Meter = keyof typeof METERS;

/** One line of a price list: `credits` for one unit of `meter`, where `when` matches the order. */
export interface PriceLine {
  item: string;
  meter: Meter;
  credits: MicroCredits;
  when: { resolution?: string; audio?: boolean };
}

export type Durations = { values: number[] } | { min: number; max: number };

/** What may be ordered. Absent means: this model has no such choice. */
export interface ModelLimits {
  promptCharactersMax: number;
  durations?: Durations;
  resolutions?: string[];
  ratios?: string[];
  /** Pairs that are offered, where not every resolution goes with every duration. */
  combinations?: { resolution: string; durations: Durations }[];
  imagesMax?: number;
  inputImagesMin?: number;
  inputImagesMax?: number;
}

/** Concrete values for what a caller leaves out, so that a vendor's default never decides. */
export interface ModelDefaults {
  duration?: number;
  resolution?: string;
  ratio?: string;
  audio?: boolean;
}

export interface Model {
  id: string;
  kind: TaskMode;
  family: string;
  /** Name of the adapter in the provider registry. */
  adapter: string;
  /** What the vendor calls this model. */
  upstreamModel: string;
  billingMode: BillingMode;
  price: PriceLine[];
  limits: ModelLimits;
  defaults: ModelDefaults;
  /** The one model of POST /v1/images/generations. */
  imagesEndpoint: boolean;
  /** Unix seconds. */
  created: number;
}

export interface Catalog {
  /** ISO date from which these prices hold. */
  effectiveFrom: string;
  models: ReadonlyMap<string, Model>;
}

/** Reads a parsed catalog.json. Throws one Error that names every problem with its path. */
export function parseCatalog(json: unknown): Catalog {
  const problems: string[] = [];
  const root = new Reader(json, 'catalog', problems);
  const effectiveFrom = root.text('effectiveFrom');
  const models = root.list('models').map(readModel);
  const byId = new Map(models.map((model) => [model.id, model]));
  if (byId.size !== models.length) problems.push('catalog.models: an id stands twice');
  for (const model of models) problems.push(...findUnpriced(model));
  if (models.filter((model) => model.imagesEndpoint).length > 1)
    problems.push('catalog.models: more than one model is marked imagesEndpoint');
  if (problems.length > 0) throw new Error(`The model catalogue is not valid:\n  ${problems.join('\n  ')}`);
  return { effectiveFrom, models: byId };
}

/** Work without a price would be free. */
function findUnpriced({ id, limits, price }: Model): string[] {
  const offered = limits.resolutions ?? [undefined];
  const unpriced = offered.filter((resolution) => {
    const isPriced = ({ meter, when, credits }: PriceLine): boolean => {
      const fits = when.resolution === undefined || when.resolution === resolution;
      return fits && meter !== 'input_images' && credits > 0n;
    };
    return !price.some(isPriced);
  });
  return unpriced.map((resolution) => `catalog.models: ${id} has no price for ${resolution ?? 'its work'}`);
}

function readModel(reader: Reader): Model {
  const limits = reader.child('limits');
  const defaults = reader.child('defaults');
  return {
    id: reader.text('id'),
    kind: reader.oneOf('kind', TASK_MODES),
    family: reader.text('family'),
    adapter: reader.text('adapter'),
    upstreamModel: reader.text('upstreamModel'),
    billingMode: reader.oneOf('billingMode', BILLING_MODES),
    price: reader.list('price').map(readPriceLine),
    limits: {
      promptCharactersMax: limits.integer('promptCharactersMax'),
      ...limits.optional('durations', () => readDurations(limits.child('durations'))),
      ...limits.optional('resolutions', () => limits.texts('resolutions')),
      ...limits.optional('ratios', () => limits.texts('ratios')),
      ...limits.optional('combinations', () => limits.list('combinations').map(readCombination)),
      ...limits.optional('imagesMax', () => limits.integer('imagesMax')),
      ...limits.optional('inputImagesMin', () => limits.integer('inputImagesMin')),
      ...limits.optional('inputImagesMax', () => limits.integer('inputImagesMax')),
    },
    defaults: {
      ...defaults.optional('duration', () => defaults.integer('duration')),
      ...defaults.optional('resolution', () => defaults.text('resolution')),
      ...defaults.optional('ratio', () => defaults.text('ratio')),
      ...defaults.optional('audio', () => defaults.flag('audio')),
    },
    imagesEndpoint: reader.has('imagesEndpoint') && reader.flag('imagesEndpoint'),
    created: reader.integer('created'),
  };
}

function readPriceLine(reader: Reader): PriceLine {
  const when = reader.child('when');
  return {
    item: reader.text('item'),
    meter: reader.oneOf('meter', Object.keys(METERS) as Meter[]),
    credits: reader.credits('credits'),
    when: {
      ...when.optional('resolution', () => when.text('resolution')),
      ...when.optional('audio', () => when.flag('audio')),
    },
  };
}

function readDurations(reader: Reader): Durations {
  if (reader.has('values')) return { values: reader.integers('values') };
  return { min: reader.integer('min'), max: reader.integer('max') };
}

function readCombination(reader: Reader): { resolution: string; durations: Durations } {
  return { resolution: reader.text('resolution'), durations: readDurations(reader.child('durations')) };
}

/** Reads members of one JSON object and collects problems instead of stopping at the first. */
class Reader {
  readonly #members: Record<string, unknown>;
  readonly #path: string;
  readonly #problems: string[];

  constructor(value: unknown, path: string, problems: string[]) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) problems.push(`${path}: expected an object`);
    this.#members = isObject ? Object.fromEntries(Object.entries(value)) : {};
    this.#path = path;
    this.#problems = problems;
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  /** `{ [name]: read() }` if the member is there, else nothing: absent members stay absent. */
  optional<Name extends string, Value>(name: Name, read: () => Value): Partial<Record<Name, Value>> {
    if (!this.has(name)) return {};
    const result: Partial<Record<Name, Value>> = {};
    result[name] = read();
    return result;
  }

  child(name: string): Reader {
    return new Reader(this.#members[name] ?? {}, `${this.#path}.${name}`, this.#problems);
  }

  list(name: string): Reader[] {
    return this.#array(name).map((item, index) => {
      return new Reader(item, `${this.#path}.${name}[${index}]`, this.#problems);
    });
  }

  text(name: string): string {
    const value = this.#members[name];
    if (typeof value === 'string' && value !== '') return value;
    return this.#problem(name, 'a text that is not empty', '');
  }

  texts(name: string): string[] {
    const values = this.#array(name).filter((value) => typeof value === 'string');
    return values.length > 0 ? values : this.#problem(name, 'a list of texts', []);
  }

  integer(name: string): number {
    const value = this.#members[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.#problem(name, 'an integer, 0 or more', 0);
  }

  integers(name: string): number[] {
    const values = this.#array(name).filter(
      (value) => typeof value === 'number' && Number.isSafeInteger(value),
    );
    return values.length > 0 ? (values as number[]) : this.#problem(name, 'a list of integers', []);
  }

  flag(name: string): boolean {
    const value = this.#members[name];
    return typeof value === 'boolean' ? value : this.#problem(name, 'true or false', false);
  }

  oneOf<Value extends string>(name: string, allowed: readonly Value[]): Value {
    const found = allowed.find((value) => value === this.#members[name]);
    if (found !== undefined) return found;
    const [first] = allowed;
    if (first === undefined) throw new Error('nothing is allowed');
    return this.#problem(name, `one of ${allowed.join(', ')}`, first);
  }

  credits(name: string): MicroCredits {
    const value = this.#members[name];
    try {
      return parseCredits(typeof value === 'number' || typeof value === 'string' ? value : '');
    } catch {
      return this.#problem(name, 'an amount of credits with at most 6 decimals', 0n);
    }
  }

  #array(name: string): unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value : this.#problem(name, 'a list', []);
  }

  #problem<Value>(name: string, expected: string, fallback: Value): Value {
    this.#problems.push(`${this.#path}.${name}: expected ${expected}`);
    return fallback;
  }
}
