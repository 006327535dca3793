// Holds the statements by which steps of tasks are recorded, until a test lets them commit or rolls them
// back: so a worker can be killed at exactly these moments.
import { sql } from '@mikro-orm/postgresql';
import type { TestGateway } from './gateway.ts';
import { until } from '../until.ts';

/** What the step records: a state of the submission, `stored` for its outputs, or the end of the task. */
export type HeldStep = 'sending' | 'accepted' | 'succeeded' | 'stored' | 'completed';

export interface HeldSteps {
  /** Answers whether the statements of all these tasks have come and wait. */
  areWaiting(taskIds: readonly string[]): Promise<boolean>;
  /**
   * Ends what is held: the statements of these tasks are rolled back, as if they had never arrived, and the
   * others commit.
   */
  release(rolledBack: readonly string[]): Promise<void>;
}

/** The first key of the advisory locks; the second one is the number of the held step. */
const LOCKS = 4711;

/** The trigger waits for a lock that the test has. */
const TRIGGERS = `
  create table held_step (n serial primary key, task_id text not null, step text not null);
  create function hold_step() returns trigger language plpgsql security definer set lock_timeout = 0 as $$
  declare
    held integer;
    row jsonb := to_jsonb(new);
    recorded text := case
      when tg_table_name = 'task' then row ->> 'status'
      when row -> 'outputs' <> 'null' then 'stored'
      else row ->> 'state' end;
  begin
    select n into held from held_step h
    where h.task_id = coalesce(row ->> 'task_id', row ->> 'id') and h.step = recorded;
    if held is not null then perform pg_advisory_xact_lock(${LOCKS}, held); end if;
    return new;
  end $$;
  create trigger hold_step before insert or update on submission for each row execute function hold_step();
  create trigger hold_step before update of status on task for each row execute function hold_step()`;

/** Holds one step of each of these tasks, which must not have come to it yet. */
export async function holdSteps(
  gateway: TestGateway,
  steps: ReadonlyMap<string, HeldStep>,
): Promise<HeldSteps> {
  await gateway.em().execute(TRIGGERS);
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = gateway.em().transactional(async (tx) => {
    await tx.execute('set local idle_in_transaction_session_timeout = 0');
    await tx.execute(`select pg_advisory_xact_lock(${LOCKS}, n) from generate_series(1, ${steps.size}) n`);
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, holding]);
  for (const [taskId, step] of steps)
    await gateway.em().execute(sql`insert into held_step (task_id, step) values (${taskId}, ${step})`);

  const waiting = (): Promise<{ pid: number; taskId: string }[]> =>
    gateway.em().execute(sql`
      select l.pid, h.task_id as "taskId" from held_step h join pg_locks l
        on l.locktype = 'advisory' and l.classid = ${LOCKS} and l.objid = h.n::oid and not l.granted
       and l.database = (select oid from pg_database where datname = current_database())`);

  return {
    areWaiting: async (taskIds) => {
      const held = new Set((await waiting()).map(({ taskId }) => taskId));
      return taskIds.every((taskId) => held.has(taskId));
    },
    release: async (rolledBack) => {
      const unwanted = async () => (await waiting()).filter(({ taskId }) => rolledBack.includes(taskId));
      for (const { pid } of await unwanted())
        await gateway.em().execute(sql`select pg_terminate_backend(${pid})`);
      await until('what is rolled back waits no more', async () => (await unwanted()).length === 0);
      released.resolve();
      await holding;
      await until('the others have committed', async () => (await waiting()).length === 0);
      await gateway.em().execute('delete from held_step');
    },
  };
}
