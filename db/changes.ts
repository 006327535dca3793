// What has changed since a position: tasks and balances of users, ended sessions, finished tasks, in one
// statement.
//
// A position is a snapshot of PostgreSQL. It knows of every transaction whether it was visible, so that a
// change is found however late its transaction commits, which no time stamp and no sequence could promise.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../domain/credits.ts';
import { readMicroCredits } from './columns.ts';
import type { Em } from './database.ts';
import { TaskEntity, type Task } from './entities/tasks.ts';
import { isLive } from './identity/sessions.ts';
import { openDetails, type DetailsRow, type TaskDetails } from './tasks/details.ts';
import { TEXT_BYTES, TEXT_BYTES_MAX } from './tasks/text-bytes.ts';
import type { Secrets } from './secrets.ts';
import { readRow } from './read-row.ts';

/** How far a reader has come. `page` is set while one span of changes is read in several pages. */
export interface ChangePosition {
  /** The newest snapshot whose changes have all been read. */
  snapshot: string;
  page: { until: string; afterXid: string; afterId: string } | null;
}

export interface ChangeQuery {
  /** Users whose tasks and balances are read. */
  userIds: readonly string[];
  /** Sessions that are asked about. */
  sessionIds: readonly string[];
  /** Tasks that are read once they have ended, whenever that was. */
  awaitedTaskIds: readonly string[];
}

export interface ReadTask {
  task: Task;
  details: TaskDetails;
}

export interface UserBalance {
  balance: MicroCredits;
  /** Earmarks included. */
  reserved: MicroCredits;
}

export interface Changes {
  /** Changed tasks of the users, in the order of their transactions' ids. */
  tasks: ReadTask[];
  /** Awaited tasks that have ended. */
  ended: ReadTask[];
  /** By user id; of every user, whether it changed or not. */
  balances: ReadonlyMap<string, UserBalance>;
  /** The sessions that may still be served. */
  liveSessionIds: ReadonlySet<string>;
  /** Where the next read goes on. */
  position: ChangePosition;
}

/** Most tasks in one read. The rest follows in the next one. */
const TASKS_MAX = 200;

/**
 * Reads one page. Without a position no changed task is read: the answer's position is the beginning. A task
 * that changed several times is read once, as it is now.
 */
export async function readChanges(
  em: Em,
  secrets: Secrets,
  position: ChangePosition | null,
  query: ChangeQuery,
): Promise<Changes> {
  const rows = await em.execute<Row[]>(sql`
    with moment as (select pg_current_snapshot() as snapshot), ${changedTasks(position, query.userIds)},
    read as (
      select 'changed' as reason, t.* from changed t
      union all
      select 'ended', t.* from task t
      where t.id = any(${texts(query.awaitedTaskIds)}) and t.status in ('completed', 'failed', 'cancelled')
    ), numbered as (select row_number() over () as number, r.* from read r)
    select m.snapshot::text as moment, ${facts(query)}, q.secret_key_id as sealed_with, q.prompt as sealed_prompt,
           s.evidence, c.refunded::text as refunded, r.*
    from moment m left join numbered r on true left join task_request q on q.task_id = r.id
    left join submission s on s.task_id = r.id and s.attempt = r.attempt
    left join task_attempt c on c.task_id = r.id and c.attempt = r.attempt
    order by r.reason, r.changed_xid, r.id`);
  return readRows(em, secrets, position, rows);
}

/**
 * The part of a snapshot below which everything has ended: all that a reader has to remember to miss
 * nothing.
 */
export function resumeIdOf({ snapshot }: ChangePosition): string {
  return snapshot.slice(0, snapshot.indexOf(':'));
}

/** The position of a reader that remembers such a part; null when the text is none. */
export function positionAfter(resumeId: string): ChangePosition | null {
  return /^[1-9]\d{0,17}$/.test(resumeId) ? { snapshot: `${resumeId}:${resumeId}:`, page: null } : null;
}

/**
 * Selects the changes that the position's snapshot does not show. An id beyond the present one is of
 * another cluster, from which this database was restored, and says nothing.
 */
function changedTasks(position: ChangePosition | null, userIds: readonly string[]) {
  if (!position) return sql`changed as (select t.* from task t where false)`;
  const { snapshot, page } = position;
  const span = sql`
    t.user_id = any(${texts(userIds)}) and t.changed_xid >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
    and t.changed_xid < pg_snapshot_xmax(m.snapshot) and not pg_visible_in_snapshot(t.changed_xid, ${snapshot}::pg_snapshot)`;
  const rest = page ? sql`and (t.changed_xid, t.id) > (${page.afterXid}::xid8, ${page.afterId})` : sql``;
  return sql`
    page as (
      select t.id, t.changed_xid, ${TEXT_BYTES} as bytes
      from (
        select t.id, t.changed_xid, t.output_text from task t cross join moment m where ${span} ${rest}
        order by t.changed_xid, t.id limit ${TASKS_MAX}
      ) t left join task_request q on q.task_id = t.id
    ), measured as (
      select p.id, sum(p.bytes) over (order by p.changed_xid, p.id) - p.bytes as bytes_before from page p
    ),
    changed as (
      select t.* from measured p join task t on t.id = p.id where p.bytes_before < ${TEXT_BYTES_MAX}
    )`;
}

/** What is read beside tasks: in the first row only, since every row would repeat it. */
function facts({ userIds, sessionIds }: ChangeQuery) {
  return sql`
    case when coalesce(r.number, 1) = 1 then (
      select coalesce(jsonb_object_agg(a.user_id,
        jsonb_build_array(a.balance::text, (a.reserved + a.earmarked)::text)), '{}')
      from account a where a.user_id = any(${texts(userIds)})
    ) end as balances,
    case when coalesce(r.number, 1) = 1 then (
      select coalesce(jsonb_agg(s.id), '[]') from session s join app_user u on u.id = s.user_id
      where s.id = any(${texts(sessionIds)}) and u.disabled_at is null and ${isLive()}
    ) end as live_sessions`;
}

/** A list of texts as one parameter, whatever its length. */
function texts(list: readonly string[]) {
  return sql`array(select jsonb_array_elements_text(${JSON.stringify(list)}::jsonb))`;
}

interface Row extends Record<string, unknown> {
  moment: string;
  reason: 'changed' | 'ended' | null;
  number: string | null;
  balances: Record<string, [balance: string, reserved: string]> | null;
  live_sessions: string[] | null;
  sealed_with: DetailsRow['sealed_with'];
  sealed_prompt: DetailsRow['sealed_prompt'];
  evidence: DetailsRow['evidence'];
  refunded: DetailsRow['refunded'];
  output_text: string | null;
  changed_xid: string | null;
  id: string | null;
}

function readRows(em: Em, secrets: Secrets, position: ChangePosition | null, rows: Row[]): Changes {
  const [first] = rows;
  if (!first) throw new Error('the database answered nothing');
  const facts = rows.find(({ balances }) => balances !== null);
  const read = (reason: Row['reason']): ReadTask[] =>
    rows.filter((row) => row.reason === reason).map((row) => readTask(em, secrets, row));
  const tasks = read('changed');
  const changed = rows.filter(({ reason }) => reason === 'changed');
  const isFull = changed.length === TASKS_MAX || textBytesOf(changed) >= TEXT_BYTES_MAX;
  return {
    tasks,
    ended: read('ended'),
    balances: new Map(
      Object.entries(facts?.balances ?? {}).map(([userId, [balance, reserved]]) => [
        userId,
        { balance: readMicroCredits(balance), reserved: readMicroCredits(reserved) },
      ]),
    ),
    liveSessionIds: new Set(facts?.live_sessions ?? []),
    position: nextPosition(position, first.moment, isFull ? changed.at(-1) : undefined),
  };
}

/** As the statement counts them. */
function textBytesOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { sealed_prompt: prompt, output_text: answer }) => {
    return sum + (prompt?.length ?? 0) + Buffer.byteLength(answer ?? '');
  }, 0);
}

/**
 * A full page is followed by the rest of the same span. The next span begins where the first page's snapshot
 * ends, because what commits between two pages may lie before the point that the pages have reached.
 */
function nextPosition(
  position: ChangePosition | null,
  moment: string,
  lastOfFullPage: Row | undefined,
): ChangePosition {
  const until = position?.page?.until ?? moment;
  if (!position || !lastOfFullPage) return { snapshot: until, page: null };
  const { changed_xid: afterXid, id: afterId } = lastOfFullPage;
  return { snapshot: position.snapshot, page: { until, afterXid: afterXid ?? '', afterId: afterId ?? '' } };
}

function readTask(em: Em, secrets: Secrets, row: Row): ReadTask {
  const { moment: _m, reason: _r, number: _n, balances: _b, live_sessions: _l, ...rest } = row;
  const { sealed_with, sealed_prompt, evidence, refunded, ...columns } = rest;
  const task = readRow(em, TaskEntity, columns);
  const details = openDetails(secrets, { id: task.id, sealed_with, sealed_prompt, evidence, refunded });
  return { task, details };
}
