// A report of usage: figures, bars by time and group, and the same as a table.
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { downloadCsv } from '../../data/csv.ts';
import { useFilters } from '../../data/filters.ts';
import { shownTimeZone } from '../../data/preferences.ts';
import { useKeys } from '../../data/queries.ts';
import {
  rangeOf,
  useUsage,
  type Grouping,
  type Interval,
  type Usage,
  type UsageSums,
} from '../../data/usage.ts';
import { t } from '../../texts/pages.ts';
import { Bars, colorOf, GROUPS_MAX } from '../../ui/bars.tsx';
import { Button, ButtonLink, Choices, Select } from '../../ui/controls.tsx';
import { formatClock, formatCount, formatCredits, UNKNOWN } from '../../ui/format.ts';
import { Amount, Bone, Card, Empty, Figure, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { GroupTable } from './group-table.tsx';
import { useUserNames } from './user-names.ts';

const CHART_HEIGHT = 240;
const DEFAULT_DAYS = '30';
const PERIODS = ['1', '7', '30', '90', '365'];

interface ReportProps {
  title: string;
  note: string;
  groups: readonly Grouping[];
  isAdmin: boolean;
}

export function UsageReport({ title, note, groups, isAdmin }: ReportProps) {
  const [filters, change] = useFilters();
  const days = String(daysOf(filters));
  const group = groups.find((one) => one === filters['group']) ?? groups[0] ?? 'none';
  const interval = intervalOf(Number(days));
  const period = { days: Number(days), interval, group, isAdmin };
  const usage = useUsage(period);
  const before = useUsage({ ...period, group: 'none', periodsAgo: 1 });
  return (
    <>
      <Head title={title} note={note}>
        <Button
          icon="download"
          disabled={!usage.data?.data.length}
          onClick={() => usage.data && saveCsv(usage.data, interval)}
        >
          {t.csv}
        </Button>
      </Head>
      <div class="filters">
        <Select
          label={t.usage.period}
          value={days}
          options={PERIODS.map((value) => ({ value, label: t.usage.periods[value] ?? value }))}
          onValue={(value) => change({ days: value === DEFAULT_DAYS ? '' : value })}
        />
        <Choices
          label={t.usage.group}
          isHiddenLabel
          isSegmented
          value={group}
          options={groups.map((value) => ({ value, label: t.usage.groups[value] ?? value }))}
          onValue={(value) => change({ group: value === groups[0] ? '' : value })}
        />
        <span class="small faint">
          {shownTimeZone()}
          {usage.data && ` · ${t.asOf(formatClock(usage.data.asOf))}`}
        </span>
      </div>
      {isMissing(usage.error) ? (
        <Notice>{t.usage.notYet}</Notice>
      ) : (
        <Problem error={usage.error} onRetry={() => void usage.refetch()} />
      )}
      {!usage.isError && (
        <>
          <Figures now={usage.data?.total} before={before.data?.total} isAdmin={isAdmin} />
          <Report usage={usage.data} group={group} interval={interval} isAdmin={isAdmin} />
        </>
      )}
    </>
  );
}

function Figures({
  now,
  before,
  isAdmin,
}: {
  now?: UsageSums | undefined;
  before?: UsageSums | undefined;
  isAdmin: boolean;
}) {
  const count = (value: number | undefined) => (now ? formatCount(value) : <Bone width="60px" />);
  return (
    <dl class="figures">
      <Figure
        name={t.usage.credits}
        hint={before ? `${t.usage.before}: ${formatCredits(before.credits)}` : UNKNOWN}
      >
        <Amount credits={now?.credits} />
      </Figure>
      <Figure name={t.usage.tasks}>{count(now?.tasks)}</Figure>
      <Figure name={t.usage.calls}>{count(now?.calls)}</Figure>
      <Figure name={t.usage.failed}>{count(now?.failed)}</Figure>
      {isAdmin && (
        <Figure name={t.usage.loss}>
          <Amount credits={now?.loss} width="60px" />
        </Figure>
      )}
    </dl>
  );
}

interface BodyProps {
  usage: Usage | undefined;
  group: Grouping;
  interval: Interval;
  isAdmin: boolean;
}

function Report({ usage, group, interval, isAdmin }: BodyProps) {
  const keys = useKeys().data ?? [];
  const groups = usage ? orderGroups(usage) : [];
  const users = useUserNames(group === 'user' ? groups : []);
  if (!usage)
    return (
      <Card title={t.usage.chart}>
        <div style={{ height: `${CHART_HEIGHT}px` }}>
          <Skeleton lines={6} />
        </div>
      </Card>
    );
  if (usage.data.length === 0)
    return (
      <Card>
        <Empty icon="usage" title={t.usage.empty} note={t.usage.emptyNote}>
          <ButtonLink href={to('create')}>{t.pages.create}</ButtonLink>
        </Empty>
      </Card>
    );
  const nameOf = (name: string | null): string => {
    if (name === null) return t.usage.groups['none'] ?? '';
    if (group === 'kind')
      return name === 'chat' ? t.usage.calls : (t.modes[name as keyof typeof t.modes] ?? name);
    if (group === 'user') return users.get(name) ?? name;
    return (group === 'key' ? keys.find(({ id }) => id === name)?.name : undefined) ?? name;
  };
  return (
    <>
      <Card title={t.usage.chart}>
        <div class="stack">
          <Bars
            buckets={usage.buckets}
            rows={usage.data}
            groups={groups}
            height={CHART_HEIGHT}
            href={(bucket) => rowsBehind(usage, bucket, interval, isAdmin)}
          />
          {groups.length > 1 && <Legend groups={groups} nameOf={nameOf} />}
        </div>
      </Card>
      <GroupTable {...{ usage, interval, groups, nameOf, isAdmin }} grouping={group} />
    </>
  );
}

/** The list that a bar stands for: tasks, or calls where there were no tasks. */
function rowsBehind({ data }: Usage, bucket: string, interval: Interval, isAdmin: boolean): string {
  const rows = data.filter((row) => row.bucket === bucket);
  const isCalls = !isAdmin && rows.some(({ calls }) => calls > 0) && rows.every(({ tasks }) => tasks === 0);
  const page = isAdmin ? 'admin/tasks' : isCalls ? 'calls' : 'tasks';
  return to(page, rangeOf(bucket, interval, shownTimeZone()));
}

function Legend({
  groups,
  nameOf,
}: {
  groups: readonly (string | null)[];
  nameOf: (group: string | null) => string;
}) {
  return (
    <ul class="legend" aria-hidden="true">
      {groups.slice(0, GROUPS_MAX).map((group) => (
        <li key={group} class="row">
          <i class={`dot g${colorOf(groups, group)}`} />
          {nameOf(group)}
        </li>
      ))}
      {groups.length > GROUPS_MAX && (
        <li class="row">
          <i class={`dot g${GROUPS_MAX}`} />
          {t.usage.other}
        </li>
      )}
    </ul>
  );
}

/** Groups by what they cost, dearest first. */
function orderGroups({ data }: Usage): (string | null)[] {
  const sums = new Map<string | null, number>();
  for (const { group, credits } of data) sums.set(group, (sums.get(group) ?? 0) + credits);
  return [...sums].toSorted(([, one], [, other]) => other - one).map(([group]) => group);
}

/** How many days the report is about, by the filters of the address. */
export function daysOf(filters: Readonly<Record<string, string | undefined>>): number {
  return Number(filters['days'] ?? DEFAULT_DAYS);
}

export function intervalOf(days: number): Interval {
  if (days <= 1) return 'hour';
  return days > 120 ? 'month' : 'day';
}

function saveCsv(usage: Usage, interval: Interval): void {
  const columns = [
    'start',
    'group',
    'credits',
    'tasks',
    'calls',
    'failed',
    'promptTokens',
    'completionTokens',
    'images',
    'seconds',
  ] as const;
  downloadCsv(
    `usage-by-${interval}.csv`,
    columns,
    usage.data.map((row) => columns.map((name) => row[name])),
  );
}

/** Whether this API has no summary. */
function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
