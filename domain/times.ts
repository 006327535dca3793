// Times as answers write them.

/** Whole seconds since 1970, rounded down. */
export function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
