// Settling calls without losing one: a database that is away for a moment is waited for, beside the answer if need be.
import type { ChatCallEnd, ChatCalls } from '../../db/chat/chat-ledger.ts';
import type { Log } from '../../log.ts';

/** An answer waits so long for its own settlement; after that it goes out, and the settlement is tried on. */
const ANSWER_WAITS_MS = 3_000;
const TRY_AGAIN_MS = 500;

export class SettlementWriter {
  readonly #calls: ChatCalls;
  readonly #log: Log;
  /** The sweeper settles what is older: trying on would be of no use. */
  readonly #leaseMs: number;
  readonly #open = new Set<Promise<void>>();

  constructor(calls: ChatCalls, leaseSeconds: number, log: Log) {
    this.#calls = calls;
    this.#leaseMs = leaseSeconds * 1000;
    this.#log = log;
  }

  /** Resolves when the end is written down, or when the answer must not wait any longer. Never rejects. */
  async write(end: ChatCallEnd): Promise<void> {
    const settling = this.#settleSurely(end);
    this.#open.add(settling);
    void settling.finally(() => this.#open.delete(settling));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_WAITS_MS);
    });
    await Promise.race([settling, late]).finally(() => clearTimeout(timer));
  }

  /** Waits for all that is not yet written down. */
  async drain(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #settleSurely(end: ChatCallEnd): Promise<void> {
    const giveUpAt = Date.now() + this.#leaseMs;
    for (;;) {
      try {
        await this.#calls.settle(end);
        return;
      } catch (error) {
        this.#log.warn({ err: error, reservationId: end.id }, 'a chat call could not be settled yet');
        if (Date.now() > giveUpAt) return;
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
      }
    }
  }
}
