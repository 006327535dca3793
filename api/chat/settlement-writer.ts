// Settles chat calls without losing one: while the database is away, it retries beside the answer.
import type { ChatCallEnd, ChatCalls } from '../../db/chat/chat-ledger.ts';
import type { Log } from '../../log.ts';

/** Longest wait of an answer for its own settlement; after that it is sent, and the retries go on. */
const ANSWER_WAIT_MS = 3_000;
const RETRY_PAUSE_MS = 500;

export class SettlementWriter {
  readonly #calls: ChatCalls;
  readonly #log: Log;
  /** Calls with an older lease are settled by the sweeper, so retrying longer is of no use. */
  readonly #leaseMs: number;
  readonly #pending = new Set<Promise<void>>();

  constructor(calls: ChatCalls, leaseSeconds: number, log: Log) {
    this.#calls = calls;
    this.#leaseMs = leaseSeconds * 1000;
    this.#log = log;
  }

  /** Resolves when the end is written, or when the answer must not wait any longer. Never rejects. */
  async write(end: ChatCallEnd): Promise<void> {
    const writing = this.#writeWithRetries(end);
    this.#pending.add(writing);
    void writing.finally(() => this.#pending.delete(writing));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_WAIT_MS);
    });
    await Promise.race([writing, timeout]).finally(() => clearTimeout(timer));
  }

  /** Waits until everything pending is written or given up. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #writeWithRetries(end: ChatCallEnd): Promise<void> {
    const giveUpAt = Date.now() + this.#leaseMs;
    for (;;) {
      try {
        await this.#calls.settle(end);
        return;
      } catch (error) {
        this.#log.warn({ err: error, reservationId: end.id }, 'a chat call could not be settled yet');
        if (Date.now() > giveUpAt) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
  }
}
