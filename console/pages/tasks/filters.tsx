// The filters of the list of tasks.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { useFilters } from '../../data/filters.ts';
import { firstLook } from '../../data/first-look.ts';
import { useStore } from '../../data/store.ts';
import { useKeys, useModels, type TaskFilters } from '../../data/queries.ts';
import type { TaskMode, TaskStatus } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button, Select } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { RangeTag } from '../../ui/range-tag.tsx';

const STATUSES: readonly TaskStatus[] = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'];
const MODES: readonly TaskMode[] = ['image', 'video', 'text'];
const TASK_ID = /^task_[0-9A-Z]{26}$/i;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The query that the API understands; a period becomes the moment at which it begins, by whole hours. */
export function queryOf(filters: Readonly<Record<string, string>>, now = Date.now()): TaskFilters {
  const { status, mode, model, keyId, period, from: first, to: end } = filters;
  const from = Math.floor((now - Number(period ?? 0) * DAY_MS) / HOUR_MS) * HOUR_MS;
  return {
    ...(status && { status: status as TaskStatus }),
    ...(mode && { mode: mode as TaskMode }),
    ...(model && { model }),
    ...(keyId && { keyId }),
    ...(period && { from: new Date(from).toISOString() }),
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
  const choose = (name: string, any: string, label: string, options: { value: string; label: string }[]) => (
    <Select
      label={label}
      value={filters[name] ?? ''}
      class={filters[name] ? 'set' : ''}
      options={[{ value: '', label: any }, ...options]}
      onValue={(value) => change({ [name]: value })}
    />
  );
  return (
    <div class="filters" role="search">
      <FindById />
      {choose(
        'status',
        texts.anyStatus,
        texts.status,
        STATUSES.map((value) => ({ value, label: t.statuses[value] })),
      )}
      {choose(
        'mode',
        texts.anyMode,
        texts.mode,
        MODES.map((value) => ({ value, label: t.modes[value] })),
      )}
      {choose(
        'model',
        texts.anyModel,
        texts.model,
        models.map(({ id }) => ({ value: id, label: id })),
      )}
      {keys.length > 0 &&
        choose(
          'keyId',
          texts.anyKey,
          texts.key,
          keys.map(({ id, name }) => ({ value: id, label: name })),
        )}
      {filters['from'] ? (
        <RangeTag />
      ) : (
        choose(
          'period',
          texts.periods[''] ?? '',
          texts.period,
          ['1', '7', '30'].map((value) => ({ value, label: texts.periods[value] ?? '' })),
        )
      )}
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
