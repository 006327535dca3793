/** A keyed collection in order of arrival that forgets the oldest when it is full. */

export class LruMap<Value> {
  readonly #values = new Map<string, Value>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value);
    if (this.#values.size <= this.#limit) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Oldest first. */
  values(): Value[] {
    return [...this.#values.values()];
  }
}
