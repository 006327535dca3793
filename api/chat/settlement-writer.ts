// Settles chat calls without losing one: while the database is away, it retries beside the answer.
import type { ChatCallEnd } from '../../db/chat/calls.ts';
import type { ChatCalls } from '../../db/chat/chat-ledger.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { Log } from '../../log.ts';

/** Longest wait of an answer for its own settlement; after that it is sent, and the retries go on. */
const ANSWER_WAIT_MS = 3_000;
const RETRY_PAUSE_MS = 500;

export class SettlementWriter {
  readonly #calls: ChatCalls;
  readonly #log: Log;
  /** Calls with an older lease are settled by the sweeper, so retrying longer is of no use. */
  readonly #leaseMs: number;
  readonly #pending = new Set<Promise<MicroCredits | null>>();

  constructor(calls: ChatCalls, leaseSeconds: number, log: Log) {
    this.#calls = calls;
    this.#leaseMs = leaseSeconds * 1000;
    this.#log = log;
  }

  /**
   * Resolves to what the call was really charged when the end is written; to null when the answer must not
   * wait any longer. Never rejects.
   */
  async write(end: ChatCallEnd): Promise<MicroCredits | null> {
    const writing = this.#writeWithRetries(end);
    this.#pending.add(writing);
    void writing.finally(() => this.#pending.delete(writing));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, ANSWER_WAIT_MS, null);
    });
    return Promise.race([writing, timeout]).finally(() => clearTimeout(timer));
  }

  /** Waits until everything pending is written or given up. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #writeWithRetries(end: ChatCallEnd): Promise<MicroCredits | null> {
    const giveUpAt = Date.now() + this.#leaseMs;
    for (;;) {
      try {
        return await this.#calls.settle(end);
      } catch (error) {
        this.#log.warn({ err: error, callId: end.id }, 'a chat call could not be settled yet');
        if (Date.now() > giveUpAt) return null;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
  }
}
