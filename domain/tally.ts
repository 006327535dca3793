// Sums by name, such as how much each user has under way.

export class Tally {
  readonly #sums = new Map<string, number>();

  /** The sum of a name; 0 for one that is not known. */
  of(name: string): number {
    return this.#sums.get(name) ?? 0;
  }

  /** Adds to the sum of a name, or takes from it; one that comes to zero takes no memory. */
  add(name: string, amount: number): void {
    const sum = this.of(name) + amount;
    if (sum === 0) this.#sums.delete(name);
    else this.#sums.set(name, sum);
  }
}
