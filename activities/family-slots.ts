// How many hand-overs of one family may be under way in this process, so that one slow vendor does not fill
// all slots.

export interface FamilySlots {
  /** Runs the work in a slot of the family. Answers null at once, without running it, when all are taken. */
  run<Result>(family: string, work: () => Promise<Result>): Promise<Result | null>;
}

export function createFamilySlots(slotsPerFamily: number): FamilySlots {
  const taken = new Map<string, number>();
  return {
    async run(family, work) {
      const inUse = taken.get(family) ?? 0;
      if (inUse >= slotsPerFamily) return null;
      taken.set(family, inUse + 1);
      try {
        return await work();
      } finally {
        taken.set(family, (taken.get(family) ?? 1) - 1);
      }
    },
  };
}
