// Counts the requests of each kind for each prompt, which is what `*N` in a directive refers to.

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** `result` counts the answers that hand out a result, `download` the requests for its file. */
export type RequestKind = 'submit' | 'poll' | 'cancel' | 'result' | 'download' | 'chat';

const PROMPTS_MAX = 50_000;

export class RequestCounts {
  readonly #counts = new LRUCache<string, number>({ max: PROMPTS_MAX });

  /** Counts one more request and returns its number: 1 for the first. */
  next(vendor: string, kind: RequestKind, prompt: string): number {
    const key = createHash('sha256').update(`${vendor} ${kind} ${prompt}`).digest('base64');
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}
