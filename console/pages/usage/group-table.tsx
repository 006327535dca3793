// The table beneath the chart: each group with its sums, its share, and a link to the rows behind it.
import { to } from '../../data/addresses.ts';
import { shownTimeZone } from '../../data/preferences.ts';
import { wholeRangeOf, type Grouping, type Interval, type Usage, type UsageSums } from '../../data/usage.ts';
import { t } from '../../texts/pages.ts';
import { colorOf } from '../../ui/bars.tsx';
import { formatCount, formatCredits, UNKNOWN } from '../../ui/format.ts';

interface TableProps {
  usage: Usage;
  groups: readonly (string | null)[];
  nameOf: (group: string | null) => string;
  grouping: Grouping;
  interval: Interval;
  isAdmin: boolean;
}

/** The filter of the list of tasks that shows what is behind a group. */
const FILTERS: Partial<Record<Grouping, string>> = { model: 'model', key: 'keyId', kind: 'mode' };

export function GroupTable({ usage, groups, nameOf, grouping, interval, isAdmin }: TableProps) {
  const range = wholeRangeOf(usage, interval, shownTimeZone());
  return (
    <div class="table-card">
      <div class="table-scroll" tabIndex={0} role="region" aria-label={t.usage.groups[grouping]}>
        <table class="table dense">
          <thead>
            <tr>
              <th>{t.usage.groups[grouping]}</th>
              <th class="number">{t.usage.credits}</th>
              <th class="number">{t.usage.share}</th>
              <th class="number phone-hidden">{t.usage.tasks}</th>
              <th class="number phone-hidden">{t.usage.calls}</th>
              <th class="number phone-hidden">{t.usage.failed}</th>
              <th class="number phone-hidden">{t.usage.tokens}</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => {
              const sums = sumOf(usage, group);
              const href = group === null ? null : hrefOf({ grouping, group, sums, range, isAdmin });
              return (
                <tr key={group}>
                  <td class="stretch">
                    <span class="row">
                      <i class={`dot g${colorOf(groups, group)}`} />
                      {href ? (
                        <a class="main-link cut" href={href}>
                          {nameOf(group)}
                        </a>
                      ) : (
                        <span class="cut">{nameOf(group)}</span>
                      )}
                    </span>
                  </td>
                  <Figures sums={sums} total={usage.total.credits} />
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            <tr>
              <td>{t.usage.total}</td>
              <Figures sums={usage.total} total={usage.total.credits} />
            </tr>
          </tfoot>
        </table>
      </div>
    </div>
  );
}

interface LinkOf extends Pick<TableProps, 'grouping' | 'isAdmin'> {
  group: string;
  sums: UsageSums;
  range: ReturnType<typeof wholeRangeOf>;
}

/** The rows behind a group; null where no list shows them. */
function hrefOf({ grouping, group, sums, range, isAdmin }: LinkOf): string | null {
  if (grouping === 'user') return to(`admin/users/${group}`);
  const filter = FILTERS[grouping];
  if (!filter || (isAdmin && (group === 'chat' || filter === 'keyId'))) return null;
  if (isAdmin) return to('admin/tasks', { [filter]: group, ...range });
  if (group === 'chat') return to('calls', range);
  return to(sums.tasks === 0 && sums.calls > 0 ? 'calls' : 'tasks', { [filter]: group, ...range });
}

function Figures({ sums, total }: { sums: UsageSums; total: number }) {
  return (
    <>
      <td class="number">{formatCredits(sums.credits)}</td>
      <td class="number soft">{shareOf(sums.credits, total)}</td>
      <td class="number phone-hidden">{formatCount(sums.tasks)}</td>
      <td class="number phone-hidden">{formatCount(sums.calls)}</td>
      <td class="number phone-hidden">{formatCount(sums.failed)}</td>
      <td class="number phone-hidden">{formatCount(sums.promptTokens + sums.completionTokens)}</td>
    </>
  );
}

/** Percent with one decimal; what is more than nothing is never shown as it. */
function shareOf(credits: number, total: number): string {
  if (total <= 0) return UNKNOWN;
  const percent = (100 * credits) / total;
  return percent > 0 && percent < 0.05 ? '< 0.1 %' : `${percent.toFixed(1)} %`;
}

/** Sums in whole micro-credits, so that the rows add up to the total. */
function sumOf({ data }: Usage, group: string | null): UsageSums {
  const sums = {
    credits: 0,
    tasks: 0,
    calls: 0,
    failed: 0,
    promptTokens: 0,
    completionTokens: 0,
    images: 0,
    seconds: 0,
  };
  for (const row of data) {
    if (row.group !== group) continue;
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += Math.round(row[name] * 1e6);
  }
  for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] /= 1e6;
  return sums;
}
