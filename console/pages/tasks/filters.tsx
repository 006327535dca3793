// The filters of the list of tasks.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { beginOf, useFilters } from '../../data/filters.ts';
import { firstLook } from '../../data/first-look.ts';
import { useStore } from '../../data/store.ts';
import { useKeys, useModels, type TaskFilters } from '../../data/queries.ts';
import type { TaskMode, TaskStatus } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button } from '../../ui/controls.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { Icon } from '../../ui/icons.tsx';
import { PeriodFilter } from '../../ui/range-tag.tsx';

const STATUSES: readonly TaskStatus[] = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'];
const MODES: readonly TaskMode[] = ['image', 'video', 'text'];
const TASK_ID = /^task_[0-9A-Z]{26}$/i;

/** The query that the API understands; a period becomes the moment at which it begins. */
export function queryOf(filters: Readonly<Record<string, string>>, now = Date.now()): TaskFilters {
  const { status, mode, model, keyId, period, from: first, to: end } = filters;
  return {
    ...(status && { status: status as TaskStatus }),
    ...(mode && { mode: mode as TaskMode }),
    ...(model && { model }),
    ...(keyId && { keyId }),
    ...(period && { from: beginOf(period, now) }),
    ...(first && { from: first }),
    ...(end && { to: end }),
  };
}

export function TaskFilterBar() {
  const [filters, change] = useFilters();
  const isLooking = useStore(firstLook);
  const models = useModels(isLooking).data ?? [];
  const keys = useKeys(isLooking).data ?? [];
  const texts = t.tasks;
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <div class="filters" role="search">
      <FindById />
      <FilterSelect
        name="status"
        label={texts.status}
        any={texts.anyStatus}
        options={STATUSES.map((value) => [value, t.statuses[value]])}
      />
      <FilterSelect
        name="mode"
        label={texts.mode}
        any={texts.anyMode}
        options={MODES.map((value) => [value, t.modes[value]])}
      />
      <FilterSelect
        name="model"
        label={texts.model}
        any={texts.anyModel}
        options={models.map(({ id }) => [id, id])}
      />
      {keys.length > 0 && (
        <FilterSelect
          name="keyId"
          label={texts.key}
          any={texts.anyKey}
          options={keys.map(({ id, name }) => [id, name])}
        />
      )}
      <PeriodFilter />
      {isFiltered && (
        <Button
          look="quiet"
          onClick={() => change(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])))}
        >
          {texts.clear}
        </Button>
      )}
    </div>
  );
}

/** Goes to the task whose id is typed or pasted. */
function FindById() {
  const [text, setText] = useState('');
  const { route } = useLocation();
  return (
    <div class="search">
      <Icon name="search" size={14} />
      <input
        class="input"
        data-filter
        size={14}
        aria-label={t.tasks.id}
        placeholder={t.tasks.id}
        value={text}
        onInput={({ currentTarget }) => {
          const { value } = currentTarget;
          setText(value);
          if (TASK_ID.test(value.trim())) route(to(`tasks/${value.trim()}`));
        }}
      />
    </div>
  );
}
