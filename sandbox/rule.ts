// The form of a rule that the sandbox keeps for a vendor, and where it is known from.

/** What rules are about; each limit of the gateway's catalogue belongs to one of these. */
export type Subject =
  | 'prompt'
  | 'durations'
  | 'resolutions'
  | 'ratios'
  | 'sound'
  | 'images made'
  | 'input images'
  | 'image files'
  | 'input videos'
  | 'combinations'
  | 'seed'
  | 'negative prompt'
  | 'quality'
  | 'other';

export interface Rule {
  readonly about: Subject;
  /** The beginnings of the names of the vendor's models for which it holds; empty: all of the vendor. */
  readonly models: readonly string[];
  /** What is taken, or refused, in a few words. */
  readonly text: string;
  /** The vendor's page, or the SDK with its version; null: unproven, sandbox and gateway only agree. */
  readonly source: string | null;
}

/** Rules of the same models. */
export function rulesOf(
  models: string,
  rows: readonly (readonly [about: Subject, text: string, source: string | null])[],
): Rule[] {
  const names = models.split(' ').filter((name) => name !== '');
  return rows.map(([about, text, source]) => ({ about, models: names, text, source }));
}
