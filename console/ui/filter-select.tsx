// A filter to choose from a few values; the first choice is any of them. It lives in the address.
import { useFilters } from '../data/filters.ts';
import { Select } from './controls.tsx';

interface FilterSelectProps {
  /** The name in the address. */
  name: string;
  label: string;
  /** What the choice without a filter is called. */
  any: string;
  options: readonly (readonly [value: string, label: string])[];
}

export function FilterSelect({ name, label, any, options }: FilterSelectProps) {
  const [{ [name]: value = '' }, change] = useFilters();
  return (
    <Select
      label={label}
      value={value}
      class={value && 'set'}
      options={[['', any] as const, ...options].map(([one, text]) => ({ value: one, label: text }))}
      onValue={(chosen) => change({ [name]: chosen })}
    />
  );
}
