// Tables for what vendors say: of whole words, and of patterns, of which the first that matches decides.

export type Patterns<Meaning> = readonly (readonly [pattern: RegExp, meaning: Meaning])[];

/** Longer texts lose their end: a vendor may repeat a prompt, and names the cause in its first sentences. */
const TEXT_LENGTH_MAX = 2_000;

/**
 * The meaning of a vendor's word; undefined where the table does not have it, as for `constructor`, which
 * every object has.
 */
export function meaningOf<Meaning>(
  table: Readonly<Record<string, Meaning>>,
  word: string | null | undefined,
): Meaning | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The meaning of a text, undefined where no pattern matches; tables are written for lower case. */
export function findMeaning<Meaning>(patterns: Patterns<Meaning>, text: string | null): Meaning | undefined {
  const words = (text ?? '').slice(0, TEXT_LENGTH_MAX).toLowerCase();
  return patterns.find(([pattern]) => pattern.test(words))?.[1];
}
