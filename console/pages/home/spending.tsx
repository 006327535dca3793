// What was spent: today, and in fourteen days, each a bar.
import { useUsage } from '../../data/usage.ts';
import { t } from '../../texts/pages.ts';
import { to } from '../../data/addresses.ts';
import { Bars } from '../../ui/bars.tsx';
import { Amount, Bone, Figure } from '../../ui/parts.tsx';

const DAYS = 14;

/** Shows nothing where the API has no summary. */
export function Spending() {
  const usage = useUsage({ days: DAYS, interval: 'day', group: 'none' });
  if (usage.isError) return null;
  const rows = usage.data?.data ?? [];
  const today = rows
    .filter(({ bucket }) => bucket === usage.data?.buckets.at(-1))
    .reduce((sum, { credits }) => sum + credits, 0);
  return (
    <>
      <Figure name={t.home.spentToday}>
        <Amount credits={usage.data && today} width="70px" />
      </Figure>
      <Figure name={t.home.spent}>
        {usage.data ? (
          <div class="row between">
            <Amount credits={usage.data.total.credits} />
            <Bars
              buckets={usage.data.buckets}
              rows={rows}
              height={36}
              width={120}
              isSpark
              href={() => to('usage')}
            />
          </div>
        ) : (
          <Bone width="110px" />
        )}
      </Figure>
    </>
  );
}
