// Counts how many long answers of one kind a user has open in this process, and limits them.
export interface UserSlots {
  /** Takes a slot and returns the function that gives it back; null when the user has none left. */
  take(userId: string): (() => void) | null;
  max: number;
}

export function createUserSlots(max: number): UserSlots {
  const taken = new Map<string, number>();
  const add = (userId: string, count: number): void => {
    const sum = (taken.get(userId) ?? 0) + count;
    if (sum > 0) taken.set(userId, sum);
    else taken.delete(userId);
  };
  return {
    max,
    take: (userId) => {
      if ((taken.get(userId) ?? 0) >= max) return null;
      add(userId, 1);
      let isGivenBack = false;
      return () => {
        if (!isGivenBack) add(userId, -1);
        isGivenBack = true;
      };
    },
  };
}
