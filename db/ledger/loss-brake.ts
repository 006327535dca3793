// The brake on losses: which users have cost the operator more on this UTC day than they may.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { Log } from '../../log.ts';
import { forkEm, type Database } from '../database.ts';

/**
 * How old the list of users may be. A read takes milliseconds, since only what has a loss is in its index.
 */
const KEPT_MS = 10_000;

export interface LossBrake {
  /** Whether the brake is on at all. */
  isOn: boolean;
  /**
   * Whether a user is held to what vendors report promptly, by a list that is some seconds old. Costs a query
   * once in `KEPT_MS` and process, and nothing while the brake is off. Never rejects: while the database does
   * not answer, the list before counts.
   */
  holds(userId: string): Promise<boolean>;
}

export interface LossBrakeOptions {
  database: Database;
  /** The loss of a day above which a user is held; null switches the brake off. */
  lossMax: MicroCredits | null;
  log: Pick<Log, 'warn'>;
  /** A clock that nothing sets, in milliseconds; tests replace it. */
  now?: () => number;
}

export function createLossBrake({
  database,
  lossMax,
  log,
  now = () => performance.now(),
}: LossBrakeOptions): LossBrake {
  if (lossMax === null) return { isOn: false, holds: () => Promise.resolve(false) };
  let held: ReadonlySet<string> = new Set();
  let readAt = -Infinity;
  let reading: Promise<void> | null = null;

  async function read(limit: MicroCredits): Promise<void> {
    try {
      const users = await listAbove(database, limit);
      for (const userId of users)
        if (!held.has(userId)) log.warn({ userId }, 'the loss brake holds a user until the UTC day is over');
      held = new Set(users);
    } catch (error) {
      log.warn({ err: error }, 'the losses of users could not be read');
    } finally {
      readAt = now();
      reading = null;
    }
  }

  return {
    isOn: true,
    holds: async (userId) => {
      const isFirst = readAt === -Infinity;
      if (now() - readAt > KEPT_MS) reading ??= read(lossMax);
      // Only the first callers wait: others are answered from the list before.
      if (isFirst) await reading;
      return held.has(userId);
    },
  };
}

async function listAbove(database: Database, lossMax: MicroCredits): Promise<string[]> {
  const rows = await forkEm(database).execute<{ userId: string }[]>(sql`
    select user_id as "userId" from (${LOSSES_TODAY}) l group by user_id having sum(loss) > ${lossMax.toString()}::bigint`);
  return rows.map(({ userId }) => userId);
}

/** Every loss of this UTC day with its user: of chat calls, and of tasks also when they were not charged. */
export const LOSSES_TODAY = sql`
  select user_id, loss from chat_call where loss > 0 and settled_at >= date_trunc('day', now())
  union all
  select user_id, loss from task_attempt where loss > 0 and settled_at >= date_trunc('day', now())`;
