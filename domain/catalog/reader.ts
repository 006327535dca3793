// Reads members of the catalogue's JSON and collects every problem with its path.
import { parseCredits, type MicroCredits } from '../credits.ts';

/** One JSON object. A member that is missing or wrong becomes a problem and a harmless value. */
export class Reader {
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

  flags(name: string): boolean[] {
    const values = this.#array(name).filter((value) => typeof value === 'boolean');
    return values.length > 0 ? values : this.#problem(name, 'a list of true and false', []);
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
