// Administration: the audit log.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import type { AuditEntry } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button } from '../../ui/controls.tsx';
import { BoneRows, More } from '../../ui/list.tsx';
import { Card, Copy, Empty, Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age } from '../../ui/times.tsx';

const ROWS = '50';
const COLUMNS = 6;

export default function AdminAudit() {
  const list = useInfiniteQuery({
    queryKey: ['admin', 'audit'],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/audit-entries', { signal, query: { limit: ROWS, ...(cursor && { cursor }) } }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Head title={t.pages.adminAudit} note={t.admin.auditNote}>
        <Button icon="download" disabled={entries.length === 0} onClick={() => saveCsv(entries)}>
          {t.csv}
        </Button>
      </Head>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {!list.isPending && entries.length === 0 ? (
        <Card>
          <Empty icon="audit" title={t.admin.noEntries} />
        </Card>
      ) : (
        <div class="table-card">
          <Table entries={entries} isLoading={list.isPending} />
          {!list.isPending && <More pages={list} />}
        </div>
      )}
    </>
  );
}

function Table({ entries, isLoading }: { entries: readonly AuditEntry[]; isLoading: boolean }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={t.pages.adminAudit}>
      <table class="table dense" aria-busy={isLoading}>
        <thead>
          <tr>
            <th>{t.admin.action}</th>
            <th>{t.admin.actor}</th>
            <th>{t.admin.target}</th>
            <th>{t.admin.from}</th>
            <th>{t.admin.detail}</th>
            <th class="number">{t.calls.time}</th>
          </tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={COLUMNS} />}
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <span class="tag">{entry.action}</span>
              </td>
              <td>{entry.actor?.email ?? t.admin.commandLine}</td>
              <td style={{ maxWidth: '170px' }}>
                <Copy text={entry.target.id} />
              </td>
              <td class="soft" title={entry.userAgent ?? ''}>
                {entry.ip}
              </td>
              <td class="soft small break" style={{ maxWidth: '260px' }}>
                {Object.entries(entry.detail)
                  .map(
                    ([name, value]) =>
                      `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
                  )
                  .join(' · ')}
              </td>
              <td class="number faint tiny">
                <Age at={entry.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
