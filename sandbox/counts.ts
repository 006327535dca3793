/** How often a prompt was seen in one kind of request: what `*N` in a directive counts. */

import { createHash } from 'node:crypto';
import { LruMap } from './newest.ts';

/** `result` counts the answers that hand out a result, `download` the requests for its file. */
export type RequestKind = 'submit' | 'poll' | 'cancel' | 'result' | 'download' | 'chat';

const PROMPTS_KEPT = 50_000;

export class Counts {
  readonly #counts = new LruMap<number>(PROMPTS_KEPT);

  /** Counts one more request: 1 for the first. */
  next(vendor: string, kind: RequestKind, prompt: string): number {
    const key = createHash('sha256').update(`${vendor} ${kind} ${prompt}`).digest('base64');
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}
