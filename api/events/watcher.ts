// Watches the database for all requests of this process that wait: at most one statement a second.
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
  /** Resolves with the task when it has ended, whenever that was; with null when `signal` is aborted first. */
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

export function createWatcher({ read, log, everyMs = EVERY_MS }: WatcherOptions): Watcher {
  const followers = new Set<Follower>();
  const awaited = new Map<string, Set<(ended: ReadTask) => void>>();
  let position: ChangePosition | null = null;
  let begun: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isReading = false;
  let lastReadAt = Number.NEGATIVE_INFINITY;

  const isIdle = (): boolean => followers.size === 0 && awaited.size === 0;

  function schedule(): void {
    if (timer || isReading || isIdle()) return;
    const waitMs = Math.max(0, lastReadAt + everyMs - performance.now());
    timer = setTimeout(() => void look(), waitMs);
  }

  async function look(): Promise<void> {
    timer = null;
    isReading = true;
    lastReadAt = performance.now();
    try {
      const from = position;
      const query = currentQuery();
      const changes = await read(from, query);
      position = changes.position;
      begun?.resolve();
      begun = null;
      tellFollowers(from, changes, query);
      tellAwaiting(changes);
    } catch (error) {
      log.warn({ err: error }, 'changes could not be read; they are read with the next look');
      begun?.reject(error);
      begun = null;
    } finally {
      isReading = false;
      // What happens while no one follows is of interest to no one, and would be much when the next one comes.
      if (followers.size === 0) position = null;
      schedule();
    }
  }

  function currentQuery(): ChangeQuery {
    const all = [...followers];
    return {
      userIds: [...new Set(all.map(({ userId }) => userId))],
      sessionIds: [...new Set(all.map(({ sessionId }) => sessionId))],
      awaitedTaskIds: [...awaited.keys()],
    };
  }

  function tellFollowers(from: ChangePosition | null, changes: Changes, query: ChangeQuery): void {
    const asked = new Set(query.sessionIds);
    const byUser = Map.groupBy(changes.tasks, ({ task }) => task.userId);
    for (const follower of followers) {
      const { userId, sessionId } = follower;
      if (!asked.has(sessionId)) continue; // came during the read, which says nothing of it
      if (!changes.liveSessionIds.has(sessionId)) {
        followers.delete(follower);
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

  function tellAwaiting({ ended }: Changes): void {
    for (const one of ended) {
      for (const resolve of awaited.get(one.task.id) ?? []) resolve(one);
      awaited.delete(one.task.id);
    }
  }

  return {
    follow: async (follower) => {
      followers.add(follower);
      const leave = (): void => void followers.delete(follower);
      if (position === null) {
        begun ??= Promise.withResolvers<void>();
        // A read that is under way began before this follower; its position counts all the same.
        const { promise } = begun;
        schedule();
        await promise.catch((error: unknown) => {
          leave();
          throw error;
        });
      }
      schedule();
      return leave;
    },
    awaitEnd: (taskId, signal) => {
      const { promise, resolve } = Promise.withResolvers<ReadTask | null>();
      if (signal.aborted) return Promise.resolve(null);
      const waiting = awaited.get(taskId) ?? new Set();
      awaited.set(taskId, waiting.add(resolve));
      const giveUp = (): void => {
        waiting.delete(resolve);
        if (waiting.size === 0 && awaited.get(taskId) === waiting) awaited.delete(taskId);
        resolve(null);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      schedule();
      return promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
    counts: () => ({
      followers: followers.size,
      awaited: [...awaited.values()].reduce((sum, { size }) => sum + size, 0),
    }),
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
      followers.clear();
      awaited.clear();
    },
  };
}
