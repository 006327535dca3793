// Counts how many long answers of one kind a user has open in this process, and limits them.
import { Tally } from '../../domain/tally.ts';

export interface UserSlots {
  /** Takes a slot and returns the function that gives it back; null when the user has none left. */
  take(userId: string): (() => void) | null;
  max: number;
}

export function createUserSlots(max: number): UserSlots {
  const taken = new Tally();
  return {
    max,
    take: (userId) => {
      if (taken.of(userId) >= max) return null;
      taken.add(userId, 1);
      let isGivenBack = false;
      return () => {
        if (!isGivenBack) taken.add(userId, -1);
        isGivenBack = true;
      };
    },
  };
}
