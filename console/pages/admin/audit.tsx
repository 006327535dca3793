// Administration: the audit log.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import { beginOf, useFilters } from '../../data/filters.ts';
import type { AuditAction, AuditEntry } from '../../data/types.ts';
import { nameOfAction, t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { CardTable, Listed } from '../../ui/list.tsx';
import { Empty, Head } from '../../ui/parts.tsx';
import { Age } from '../../ui/times.tsx';
import { AuditFilters } from './audit-filters.tsx';

const ROWS = '50';
const COLUMNS = 6;

export default function AdminAudit() {
  const [filters, change] = useFilters();
  const { action, actor, target, days } = filters;
  const list = useInfiniteQuery({
    queryKey: ['admin', 'audit', action, actor, target, days],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/audit-entries', {
        signal,
        query: {
          limit: ROWS,
          ...(cursor && { cursor }),
          action: action as AuditAction | undefined,
          actor,
          target,
          ...(days && { from: beginOf(days) }),
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const isFiltered = Boolean(action || actor || target || days);
  const clear = (): void => change({ action: '', actor: '', target: '', days: '' });
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Head title={t.pages.adminAudit} note={t.admin.auditNote}>
        <Button icon="download" disabled={entries.length === 0} onClick={() => saveCsv(entries)}>
          {t.csv}
        </Button>
      </Head>
      <AuditFilters filters={filters} change={change} {...(isFiltered && { clear })} />
      <Listed
        list={list}
        isEmpty={entries.length === 0}
        empty={
          isFiltered ? (
            <Empty icon="search" title={t.admin.noEntryFits}>
              <Button onClick={clear}>{t.tasks.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="audit" title={t.admin.noEntries} note={t.admin.auditNote} />
          )
        }
      >
        <Table entries={entries} isLoading={list.isPending} change={change} />
      </Listed>
    </>
  );
}

interface TableProps {
  entries: readonly AuditEntry[];
  isLoading: boolean;
  change: (changes: Readonly<Record<string, string>>) => void;
}

function Table({ entries, isLoading, change }: TableProps) {
  return (
    <CardTable
      label={t.pages.adminAudit}
      columns={COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.admin.action}</th>
          <th>{t.admin.actor}</th>
          <th>{t.admin.target}</th>
          <th class="tablet-hidden">{t.admin.from}</th>
          <th>{t.admin.detail}</th>
          <th class="number">{t.calls.time}</th>
        </>
      }
    >
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td class="phone-wide">
            <span class="strong">{nameOfAction(entry.action)}</span>
          </td>
          <td class="audit-actor phone-wide">
            <Actor entry={entry} change={change} />
          </td>
          <td style={{ maxWidth: '140px' }}>
            <button
              type="button"
              class="as-link mono small cut"
              title={entry.target.id}
              onClick={() => change({ target: entry.target.id })}
            >
              {entry.target.id}
            </button>
          </td>
          <td class="soft tablet-hidden" title={entry.userAgent ?? ''}>
            {entry.ip}
          </td>
          <td class="soft small break phone-wide" style={{ minWidth: '150px', maxWidth: '260px' }}>
            {Object.entries(entry.detail)
              .filter(([, value]) => value !== null)
              .map(([name, value]) => `${name}: ${wordsOf(value)}`)
              .join(' · ')}
          </td>
          <td class="number faint tiny phone-start">
            <Age at={entry.createdAt} />
          </td>
        </tr>
      ))}
    </CardTable>
  );
}

/** Who did it; a click shows what else that user did. */
function Actor({ entry: { actor }, change }: { entry: AuditEntry; change: TableProps['change'] }) {
  if (!actor) return <>{t.admin.commandLine}</>;
  return (
    <button type="button" class="as-link cut" title={actor.email} onClick={() => change({ actor: actor.id })}>
      {actor.email}
    </button>
  );
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function saveCsv(entries: readonly AuditEntry[]): void {
  downloadCsv(
    'audit.csv',
    [
      'id',
      'createdAt',
      'action',
      'actor',
      'targetType',
      'targetId',
      'ip',
      'userAgent',
      'requestId',
      'detail',
    ],
    entries.map((entry) => [
      ...[entry.id, entry.createdAt, entry.action, entry.actor?.email, entry.target.type, entry.target.id],
      ...[entry.ip, entry.userAgent, entry.requestId, JSON.stringify(entry.detail)],
    ]),
  );
}
