// A period that a bar of a chart led to, among the filters of a list; a click removes it.
import { useFilters } from '../data/filters.ts';
import { t } from '../texts/index.ts';
import { formatRange } from './format.ts';
import { Icon } from './icons.tsx';

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
