// Watches the database for all requests of this process that wait: at most one statement a second, ten while
// there is more to read.
import type { ChangePosition, ChangeQuery, Changes, ReadTask, UserBalance } from '../../db/changes.ts';
import type { Log } from '../../log.ts';

/** One reader of a user's changes. */
export interface Follower {
  userId: string;
  sessionId: string;
  /** Called with each read, also when nothing changed for this user. */
  onRead(read: FollowedChanges): void;
  /** Called once, when the session has ended or its user was disabled. */
  onSessionEnd(): void;
}

export interface FollowedChanges {
  tasks: readonly ReadTask[];
  balance: UserBalance | null;
  /** The position before and after these changes: readers resume from it. */
  from: ChangePosition;
  to: ChangePosition;
}

export interface Watcher {
  /**
   * Adds a follower. Resolves once no later change can be missed; until then and after that `onRead` is
   * called. Rejects when the database does not answer. The function ends following.
   */
  follow(follower: Follower): Promise<() => void>;
  /**
   * Resolves with the task when it has ended, whenever that was; with null when `signal` is aborted first.
   */
  awaitEnd(taskId: string, signal: AbortSignal): Promise<ReadTask | null>;
  /** The number of followers and of awaited tasks, for metrics. */
  counts(): { followers: number; awaited: number };
  stop(): void;
}

export interface WatcherOptions {
  read: (position: ChangePosition | null, query: ChangeQuery) => Promise<Changes>;
  log: Pick<Log, 'warn'>;
  /** Shortest time between the beginnings of two reads. */
  everyMs?: number;
}

const EVERY_MS = 1_000;
/** The same while a full page says that there is more: else hundreds of changes a second came ever later. */
const REST_EVERY_MS = 100;

export function createWatcher(options: WatcherOptions): Watcher {
  return new DatabaseWatcher(options);
}

class DatabaseWatcher implements Watcher {
  readonly #options: WatcherOptions;
  readonly #followers = new Set<Follower>();
  readonly #awaited = new Map<string, Set<(ended: ReadTask) => void>>();
  #position: ChangePosition | null = null;
  /** Settled by the read that finds the first position; null while no follower waits for one. */
  #begun: PromiseWithResolvers<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Settled when the read that is under way has ended, however; null while none is. */
  #reading: PromiseWithResolvers<void> | null = null;
  #lastReadAt = Number.NEGATIVE_INFINITY;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  async follow(follower: Follower): Promise<() => void> {
    this.#followers.add(follower);
    const leave = (): void => void this.#followers.delete(follower);
    this.#schedule();
    // A read that is under way tells this follower nothing, and may see more than its reader has by then.
    if (this.#position !== null) await this.#reading?.promise;
    else {
      this.#begun ??= Promise.withResolvers<void>();
      await this.#begun.promise.catch((error: unknown) => {
        leave();
        throw error;
      });
    }
    return leave;
  }

  awaitEnd(taskId: string, signal: AbortSignal): Promise<ReadTask | null> {
    if (signal.aborted) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<ReadTask | null>();
    const waiting = this.#awaited.get(taskId) ?? new Set();
    this.#awaited.set(taskId, waiting.add(resolve));
    const giveUp = (): void => {
      waiting.delete(resolve);
      if (waiting.size === 0 && this.#awaited.get(taskId) === waiting) this.#awaited.delete(taskId);
      resolve(null);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#schedule();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  counts(): { followers: number; awaited: number } {
    const awaited = [...this.#awaited.values()].reduce((sum, { size }) => sum + size, 0);
    return { followers: this.#followers.size, awaited };
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#followers.clear();
    this.#awaited.clear();
  }

  #schedule(): void {
    const isIdle = this.#followers.size === 0 && this.#awaited.size === 0;
    if (this.#timer || this.#reading || isIdle) return;
    const { everyMs: usual = EVERY_MS } = this.#options;
    const everyMs = this.#position?.page ? Math.min(REST_EVERY_MS, usual) : usual;
    const waitMs = Math.max(0, this.#lastReadAt + everyMs - performance.now());
    this.#timer = setTimeout(() => void this.#look(), waitMs);
  }

  async #look(): Promise<void> {
    this.#timer = null;
    this.#reading = Promise.withResolvers<void>();
    this.#lastReadAt = performance.now();
    try {
      const from = this.#position;
      const query = this.#query();
      const changes = await this.#options.read(from, query);
      this.#position = changes.position;
      this.#begun?.resolve();
      this.#tellFollowers(from, changes, query);
      this.#tellAwaiting(changes);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'changes could not be read; the next look reads them');
      this.#begun?.reject(error);
    } finally {
      this.#begun = null;
      this.#reading.resolve();
      this.#reading = null;
      // What changes while there is no follower concerns none, and would be much when the next one comes.
      if (this.#followers.size === 0) this.#position = null;
      this.#schedule();
    }
  }

  #query(): ChangeQuery {
    const all = [...this.#followers];
    return {
      userIds: [...new Set(all.map(({ userId }) => userId))],
      sessionIds: [...new Set(all.map(({ sessionId }) => sessionId))],
      awaitedTaskIds: [...this.#awaited.keys()],
    };
  }

  #tellFollowers(from: ChangePosition | null, changes: Changes, query: ChangeQuery): void {
    const asked = new Set(query.sessionIds);
    const byUser = Map.groupBy(changes.tasks, ({ task }) => task.userId);
    for (const follower of this.#followers) {
      const { userId, sessionId } = follower;
      if (!asked.has(sessionId)) continue; // came during the read, which says nothing of it
      if (!changes.liveSessionIds.has(sessionId)) {
        this.#followers.delete(follower);
        follower.onSessionEnd();
        continue;
      }
      follower.onRead({
        tasks: byUser.get(userId) ?? [],
        balance: changes.balances.get(userId) ?? null,
        from: from ?? changes.position,
        to: changes.position,
      });
    }
  }

  #tellAwaiting({ ended }: Changes): void {
    for (const one of ended) {
      for (const resolve of this.#awaited.get(one.task.id) ?? []) resolve(one);
      this.#awaited.delete(one.task.id);
    }
  }
}
