// The journal: every request the sandbox received, in memory, for tests and for trying things out.

import { LRUCache } from 'lru-cache';

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
  /** When the client disconnected before the answer was complete, otherwise null. */
  clientClosedAt: string | null;
  /** Only searched, never shown. */
  prompt: string;
}

const ENTRIES_MAX = 20_000;

export class Journal {
  readonly #entries = new LRUCache<number, JournalEntry>({ max: ENTRIES_MAX });
  #nextNumber = 0;

  add(entry: JournalEntry): void {
    this.#entries.set(this.#nextNumber, entry);
    this.#nextNumber += 1;
  }

  /** Entries whose prompt contains the text, oldest first, without the prompts. */
  search(text: string): Omit<JournalEntry, 'prompt'>[] {
    return [...this.#entries.values()]
      .toReversed()
      .filter((entry) => entry.prompt.includes(text))
      .map(({ prompt: _hidden, ...shown }) => shown);
  }
}
