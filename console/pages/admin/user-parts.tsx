// What belongs to one user: spending, tasks, statement, keys, sessions.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import type { Key } from '../../data/types.ts';
import { useUsage } from '../../data/usage.ts';
import { t } from '../../texts/pages.ts';
import { Bars } from '../../ui/bars.tsx';
import { deviceOf } from '../../ui/device.ts';
import { formatCredits } from '../../ui/format.ts';
import { Listed } from '../../ui/list.tsx';
import { Amount, Bone, Card, Figure, Meter, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age } from '../../ui/times.tsx';
import { Statement } from '../credits/statement.tsx';
import { ForeignTasks } from './task-table.tsx';

const DAYS = 30;
const TASKS_SHOWN = '8';
const ENTRIES_SHOWN = '20';
const LISTED = '100';

interface UserProps {
  id: string;
}

/** What the user spent in thirty days, each a bar. */
export function UserSpending({ id }: UserProps) {
  const usage = useUsage({ days: DAYS, interval: 'day', group: 'none', isAdmin: true, userId: id }).data;
  return (
    <Figure name={t.admin.spent}>
      {usage ? (
        <div class="row between">
          <Amount credits={usage.total.credits} />
          <Bars buckets={usage.buckets} rows={usage.data} height={36} width={150} isSpark />
        </div>
      ) : (
        <Bone width="110px" />
      )}
    </Figure>
  );
}

export function UserTasks({ id }: UserProps) {
  const list = useQuery({
    queryKey: ['admin', 'tasks', 'of', id],
    queryFn: ({ signal }) =>
      call('GET /api/admin/tasks', { signal, query: { userId: id, limit: TASKS_SHOWN } }),
  });
  const tasks = list.data?.data ?? [];
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>{t.pages.tasks}</h2>
        {list.data?.hasMore && (
          <a class="link note" href={to('admin/tasks', { userId: id })}>
            {t.task.back}
          </a>
        )}
      </div>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {!list.isPending && tasks.length === 0 ? (
        <Card>
          <p class="note soft">{t.admin.noTasks}</p>
        </Card>
      ) : (
        <div class="table-card">
          <ForeignTasks tasks={tasks} isLoading={list.isPending} isOfOne />
        </div>
      )}
    </section>
  );
}

export function UserLedger({ id }: UserProps) {
  const list = useInfiniteQuery({
    queryKey: ['admin', 'ledger', id],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/users/:id/ledger-entries', {
        signal,
        params: { id },
        query: { limit: ENTRIES_SHOWN, ...(cursor && { cursor }) },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section class="stack tight">
      <h2>{t.credits.statement}</h2>
      <Listed
        list={list}
        isEmpty={entries.length === 0}
        isPart
        empty={<p class="card-body note soft">{t.credits.empty}</p>}
      >
        <Statement entries={entries} isLoading={list.isPending} tasks="admin/tasks" />
      </Listed>
    </section>
  );
}

export function UserKeys({ id }: UserProps) {
  const keys = useQuery({
    queryKey: ['admin', 'keys', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/admin/users/:id/keys', { signal, params: { id }, query: { limit: LISTED } }))
        .data,
  });
  return (
    <Card title={t.pages.keys} isFlush>
      <Problem error={keys.error} onRetry={() => void keys.refetch()} />
      {keys.isPending && <Waiting />}
      {keys.data?.length === 0 && <p class="card-body note soft">{t.keys.empty}</p>}
      {keys.data && keys.data.length > 0 && (
        <ul class="rows-plain">
          {keys.data.map((key) => (
            <li key={key.id}>
              <KeyRow entry={key} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function KeyRow({ entry }: { entry: Key }) {
  const { name, quota, used, revokedAt, lastUsedAt } = entry;
  return (
    <div class="stack" style={{ gap: '4px' }}>
      <span class="row between note">
        <span class="cut strong">{name}</span>
        {revokedAt !== null && <span class="tag bad">{t.keys.ended}</span>}
      </span>
      <span class="row between small faint">
        <span>
          {quota === null ? formatCredits(used) : t.keys.of(formatCredits(used), formatCredits(quota))}
        </span>
        <span>{lastUsedAt ? <Age at={lastUsedAt} /> : t.keys.never}</span>
      </span>
      {quota !== null && <Meter value={used} max={quota} label={t.keys.quota} />}
    </div>
  );
}

export function UserSessions({ id }: UserProps) {
  const sessions = useQuery({
    queryKey: ['admin', 'sessions', id],
    queryFn: async ({ signal }) =>
      (await call('GET /api/admin/users/:id/sessions', { signal, params: { id }, query: { limit: LISTED } }))
        .data,
  });
  return (
    <Card title={t.account.sessions} isFlush>
      <Problem error={sessions.error} onRetry={() => void sessions.refetch()} />
      {sessions.isPending && <Waiting />}
      {sessions.data?.length === 0 && <p class="card-body note soft">{t.admin.noSessions}</p>}
      {sessions.data && sessions.data.length > 0 && (
        <ul class="rows-plain">
          {sessions.data.map((session) => (
            <li key={session.id} class="row between">
              <span class="grow">
                <span class="note">{deviceOf(session.userAgent) ?? t.account.unknownDevice}</span>
                <span class="small faint cut" style={{ display: 'block' }}>
                  {session.ip ?? '–'}
                </span>
              </span>
              <span class="small faint">
                <Age at={session.lastSeenAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Waiting() {
  return (
    <div class="card-body">
      <Skeleton lines={2} />
    </div>
  );
}
