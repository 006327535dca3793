// Settles chat calls without losing one: while the database is away, it retries beside the answer.
import { isDataFault } from '../../db/batching.ts';
import type { ChatCallEnd } from '../../db/chat/calls.ts';
import type { ChatCalls } from '../../db/chat/chat-ledger.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import type { Log } from '../../log.ts';

/** Longest wait of an answer for its own settlement; after that it is sent, and the retries go on. */
const ANSWER_WAIT_MS = 3_000;
const RETRY_PAUSE_MS = 500;
const RETRY_PAUSE_MS_MAX = 5_000;

export class SettlementWriter {
  readonly #calls: Pick<ChatCalls, 'settle'>;
  readonly #log: Log;
  readonly #leaseMs: number;
  /** When retries end: in the end of the process only. */
  #giveUpAt = Infinity;
  #pending = 0;
  /** Set while `drain` waits. */
  #drained: PromiseWithResolvers<void> | null = null;

  constructor(calls: Pick<ChatCalls, 'settle'>, leaseSeconds: number, log: Log) {
    this.#calls = calls;
    this.#leaseMs = leaseSeconds * 1000;
    this.#log = log;
  }

  /**
   * Resolves to what the call was really charged when the end is written; to null when the answer must not
   * wait any longer. Never rejects.
   */
  write(end: ChatCallEnd): Promise<MicroCredits | null> {
    const { promise, resolve } = Promise.withResolvers<MicroCredits | null>();
    const timer = setTimeout(resolve, ANSWER_WAIT_MS, null);
    this.#pending += 1;
    void this.#writeWithRetries(end).then((charged) => {
      this.#pending -= 1;
      if (this.#pending === 0) this.#drained?.resolve();
      clearTimeout(timer);
      resolve(charged);
    });
    return promise;
  }

  /** Waits until everything pending is written or given up, which is after the time of a lease. */
  async drain(): Promise<void> {
    this.#giveUpAt = Date.now() + this.#leaseMs;
    if (this.#pending === 0) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  /**
   * Tries for as long as the process lives: the sweeper has settled the call with what was known of it when
   * its lease was over, and its true end corrects that once. What contradicts the account is given up after
   * the time of a lease.
   */
  async #writeWithRetries(end: ChatCallEnd): Promise<MicroCredits | null> {
    const leaseEndsAt = Date.now() + this.#leaseMs;
    for (let pauseMs = RETRY_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, RETRY_PAUSE_MS_MAX)) {
      try {
        return await this.#calls.settle(end);
      } catch (error) {
        const { id: callId, charged, loss } = end;
        if (Date.now() > Math.min(this.#giveUpAt, isDataFault(error) ? leaseEndsAt : Infinity)) {
          const owed = { charged: String(charged), loss: String(loss) };
          this.#log.error({ err: error, callId, ...owed }, 'the end of a chat call is given up');
          return null;
        }
        this.#log.warn({ err: error, callId }, 'a chat call could not be settled yet');
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}
