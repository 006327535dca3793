/** Every request the sandbox received, in memory, for tests and curious people to read. */

import { LruMap } from './newest.ts';

export type Operation = 'submit' | 'poll' | 'cancel' | 'download' | 'chat' | 'other';

export interface JournalEntry {
  readonly at: string;
  readonly vendor: string;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  jobId: string | null;
  /** Null until an answer begins, and for good where the connection was cut instead. */
  status: number | null;
  /** When the client went before the answer was complete. */
  clientClosedAt: string | null;
  /** Only searched in, never shown. */
  prompt: string;
}

const JOURNAL_ENTRIES_KEPT = 20_000;

export class Journal {
  readonly #entries = new LruMap<JournalEntry>(JOURNAL_ENTRIES_KEPT);
  #arrivals = 0;

  arrive(entry: JournalEntry): void {
    this.#arrivals += 1;
    this.#entries.set(String(this.#arrivals), entry);
  }

  /** Oldest first, without the prompts. */
  about(text: string): Omit<JournalEntry, 'prompt'>[] {
    return this.#entries
      .values()
      .filter((entry) => entry.prompt.includes(text))
      .map(({ prompt: _unshown, ...shown }) => shown);
  }
}
