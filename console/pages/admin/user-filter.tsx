// A filter by a user, whose id is pasted. It lives in the address.
import { useFilters } from '../../data/filters.ts';
import { FilterBox } from '../../ui/filter-box.tsx';

const USER_ID = /^usr_[0-9A-Z]{26}$/i;

/** Takes effect when the id is whole; `name` is its name in the address. */
export function UserFilter({ name, label }: { name: string; label: string }) {
  const [{ [name]: value = '' }, change] = useFilters();
  return (
    <FilterBox
      isMain
      label={label}
      value={value}
      onValue={(text) => (text === '' || USER_ID.test(text.trim())) && change({ [name]: text.trim() })}
    />
  );
}
