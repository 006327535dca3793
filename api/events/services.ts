// What requests that wait for changes need, made once per process.
import { readChanges, type ChangePosition, type ChangeQuery, type Changes } from '../../db/changes.ts';
import { forkEm, type Database } from '../../db/database.ts';
import type { Secrets } from '../../db/secrets.ts';
import type { Log } from '../../log.ts';
import { createUserSlots, type UserSlots } from './user-slots.ts';
import { createWatcher, type Watcher } from './watcher.ts';

export interface EventServices {
  watcher: Watcher;
  readChanges: (position: ChangePosition | null, query: ChangeQuery) => Promise<Changes>;
  /** Streams of events that a user has open in this process. */
  streams: UserSlots;
  /** Calls with `Prefer: wait` that a user has open in this process. */
  waits: UserSlots;
  /** Silence in a stream before a comment is sent. */
  commentEveryMs: number;
  /** Aborted when the process is told to stop: streams end, and their readers go to another process. */
  draining: AbortSignal;
}

const STREAMS_PER_USER_MAX = 4;
const WAITS_PER_USER_MAX = 100;
const COMMENT_EVERY_MS = 15_000;

export function openEvents(
  { database, secrets, log }: { database: Database; secrets: Secrets; log: Log },
  draining: AbortSignal,
): EventServices {
  const read: EventServices['readChanges'] = (position, query) =>
    readChanges(forkEm(database), secrets, position, query);
  return {
    watcher: createWatcher({ read, log }),
    readChanges: read,
    streams: createUserSlots(STREAMS_PER_USER_MAX),
    waits: createUserSlots(WAITS_PER_USER_MAX),
    commentEveryMs: COMMENT_EVERY_MS,
    draining,
  };
}
