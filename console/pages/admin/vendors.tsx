// Administration: what each vendor and each of its credentials does, and whether anything waits or is broken.
import { useQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import type { Health, HealthVendor } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { formatClock, formatCount, formatDuration } from '../../ui/format.ts';
import { CardLabel, CardTable } from '../../ui/list.tsx';
import { Card, Empty, Figure, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

const EVERY_MS = 5_000;

export default function AdminVendors() {
  const health = useQuery({
    queryKey: ['admin', 'health'],
    refetchInterval: EVERY_MS,
    queryFn: async ({ signal }) => (await call('GET /api/admin/health', { signal })).data,
  });
  return (
    <>
      <Head title={t.pages.adminVendors} note={t.admin.vendorsNote} />
      <Problem error={health.error} onRetry={() => void health.refetch()} />
      {health.data ? (
        <Shown health={health.data} />
      ) : (
        !health.isError && (
          <Card>
            <Skeleton lines={6} />
          </Card>
        )
      )}
    </>
  );
}

function Shown({ health }: { health: Health }) {
  const texts = t.admin.health;
  const refused = Object.values(health.limiter.refused).reduce((sum, count) => sum + count, 0);
  const age = (seconds: number): string => (seconds > 0 ? texts.oldest(formatDuration(seconds * 1000)) : '');
  return (
    <>
      {health.violations.length > 0 && (
        <Notice look="bad">
          {health.violations.map(({ rule, count }) => `${rule}: ${count}`).join(', ')}
        </Notice>
      )}
      {health.frozenAccounts > 0 && <Notice look="warn">{texts.frozen(health.frozenAccounts)}</Notice>}
      <dl class="figures">
        {health.tasks.map(({ status, count, oldestSeconds }) => (
          <Figure key={status} name={t.statuses[status]} hint={age(oldestSeconds)}>
            {formatCount(count)}
          </Figure>
        ))}
        <Figure name={texts.unstarted} hint={age(health.unstarted.oldestSeconds)}>
          {formatCount(health.unstarted.count)}
        </Figure>
        <Figure name={texts.reservations} hint={age(health.reservations.oldestSeconds)}>
          {formatCount(health.reservations.count)}
        </Figure>
        <Figure name={texts.refused} hint={texts.redis[health.limiter.redis]}>
          {formatCount(refused)}
        </Figure>
      </dl>
      {health.vendors.length === 0 ? (
        <Card>
          <Empty icon="vendors" title={texts.quiet} note={texts.quietNote} />
        </Card>
      ) : (
        <div class="table-card">
          <Table vendors={health.vendors} />
        </div>
      )}
    </>
  );
}

function Table({ vendors }: { vendors: Health['vendors'] }) {
  const texts = t.admin.health;
  return (
    <CardTable
      label={t.pages.adminVendors}
      heads={
        <>
          <th>{texts.vendor}</th>
          <th>{texts.credential}</th>
          <th class="number">{texts.jobs}</th>
          <th>{texts.state}</th>
          <th class="number">{texts.success}</th>
          <th class="number">{texts.time}</th>
        </>
      }
    >
      {vendors.flatMap(({ family, credentials }) =>
        credentials.map((one) => (
          <tr key={`${family} ${one.credential}`}>
            <td class="strong">{family}</td>
            <td class="mono faint phone-end">{one.credential ?? '–'}</td>
            <td class="number phone-start">
              <CardLabel text={texts.jobs} />
              {formatCount(one.jobs)}
            </td>
            <td class="phone-end">
              <State vendor={one} />
            </td>
            <td class="number phone-start">
              <CardLabel text={texts.success} />
              {successOf(one)}
            </td>
            <td class="number soft">
              <CardLabel text={texts.time} />
              {one.lastHour.seconds ? formatDuration(one.lastHour.seconds.p50 * 1000) : '–'}
            </td>
          </tr>
        )),
      )}
    </CardTable>
  );
}

function State({ vendor: { cooldown } }: { vendor: HealthVendor }) {
  if (!cooldown) return <span class="tag good">{t.admin.health.ready}</span>;
  return <span class="tag warn">{t.admin.health.resting(cooldown.reason, formatClock(cooldown.until))}</span>;
}

function successOf({ lastHour: { completed, failed } }: HealthVendor): string {
  const all = completed + failed;
  return all === 0 ? '–' : `${completed} / ${all}`;
}
