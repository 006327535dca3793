// Tables of patterns for what vendors say: the first pattern that matches decides.

export type Patterns<Meaning> = readonly (readonly [pattern: RegExp, meaning: Meaning])[];

/** The meaning of a text, undefined where no pattern matches; tables are written for lower case. */
export function findMeaning<Meaning>(patterns: Patterns<Meaning>, text: string | null): Meaning | undefined {
  const words = (text ?? '').toLowerCase();
  return patterns.find(([pattern]) => pattern.test(words))?.[1];
}
