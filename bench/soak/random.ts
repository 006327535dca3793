// Random numbers from one seed: the same seed draws the same numbers in the same order.

export interface Chance {
  /** Draws a number from 0 up to, but not including, 1. */
  next(): number;
  /** Draws an integer from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** Draws one of the weighted choices. */
  pick<Choice extends { weight: number }>(choices: readonly Choice[]): Choice;
  /** Creates another stream of numbers, so that the draws of one part do not change those of another. */
  split(): Chance;
}

/** Creates a generator by the algorithm Mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (choices) => {
      let left = next() * choices.reduce((sum, { weight }) => sum + weight, 0);
      for (const choice of choices) {
        left -= choice.weight;
        if (left < 0) return choice;
      }
      throw new Error('there is nothing to choose from');
    },
    split: () => createChance(Math.floor(next() * 2 ** 32)),
  };
}
