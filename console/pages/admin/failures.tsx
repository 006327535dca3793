// What failed in the period of the report, by code, each with the tasks behind it.
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { shownTimeZone } from '../../data/preferences.ts';
import { periodOf, type Interval } from '../../data/usage.ts';
import { sentenceOf } from '../../texts/index.ts';
import { t } from '../../texts/pages.ts';
import { formatCount } from '../../ui/format.ts';
import { CardLabel, CardTable } from '../../ui/list.tsx';
import { Problem } from '../../ui/problem.tsx';

const COLUMNS = 3;

export function Failures({ days, interval }: { days: number; interval: Interval }) {
  const zone = shownTimeZone();
  const { from, to: end } = periodOf(days, interval, 0, zone);
  const failures = useQuery({
    queryKey: ['money', 'failures', from],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await call('GET /api/admin/usage/failures', { signal, query: { from, to: end } })).data,
  });
  if (failures.isError) return <Problem error={failures.error} onRetry={() => void failures.refetch()} />;
  if (failures.data?.length === 0) return null;
  return (
    <section class="stack tight">
      <h2>{t.admin.failures}</h2>
      <div class="table-card">
        <CardTable
          label={t.admin.failures}
          isLoading={failures.isPending}
          columns={COLUMNS}
          bones={2}
          heads={
            <>
              <th>{t.admin.errorCode}</th>
              <th class="number tiny">{t.usage.tasks}</th>
              <th class="number tiny">{t.usage.calls}</th>
            </>
          }
        >
          {failures.data?.map(({ code, tasks, calls }) => (
            <tr key={code}>
              <td class="phone-wide">
                {tasks > 0 ? (
                  <a class="main-link mono" href={to('admin/tasks', { errorCode: code, from, to: end })}>
                    {code}
                  </a>
                ) : (
                  <span class="mono">{code}</span>
                )}
                <div class="small faint cut">{sentenceOf({ code, message: '' })}</div>
              </td>
              <td class="number tiny phone-start">
                <CardLabel text={t.usage.tasks} />
                {formatCount(tasks)}
              </td>
              <td class="number tiny">
                <CardLabel text={t.usage.calls} />
                {formatCount(calls)}
              </td>
            </tr>
          ))}
        </CardTable>
      </div>
    </section>
  );
}
