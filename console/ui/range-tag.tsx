// The period of a list among its filters: one of a few until now, or the one that a chart led to, which a
// click removes.
import { useFilters } from '../data/filters.ts';
import { t } from '../texts/index.ts';
import { FilterSelect } from './filter-select.tsx';
import { formatRange } from './format.ts';
import { Icon } from './icons.tsx';

const PERIODS = ['1', '7', '30'];

export function PeriodFilter() {
  const [{ from }] = useFilters();
  const { period, periods } = t.tasks;
  if (from) return <RangeTag />;
  return (
    <FilterSelect
      name="period"
      label={period}
      any={periods[''] ?? ''}
      options={PERIODS.map((value) => [value, periods[value] ?? ''])}
    />
  );
}

export function RangeTag() {
  const [{ from, to }, change] = useFilters();
  if (!from) return null;
  return (
    <button
      type="button"
      class="button set"
      aria-label={`${t.tasks.clear}: ${formatRange(from, to)}`}
      onClick={() => change({ from: '', to: '' })}
    >
      {formatRange(from, to)}
      <Icon name="cross" size={12} />
    </button>
  );
}
