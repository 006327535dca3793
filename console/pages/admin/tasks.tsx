// Administration: the tasks of all users, masked, with filters that live in the address.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import { useModels } from '../../data/queries.ts';
import type { TaskMode, TaskStatus } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { FilterBox } from '../../ui/filter-box.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { Listed } from '../../ui/list.tsx';
import { Empty, Head } from '../../ui/parts.tsx';
import { RangeTag } from '../../ui/range-tag.tsx';
import { ForeignTasks } from './task-table.tsx';

const ROWS = '50';
const USER_ID = /^usr_[0-9A-Z]{26}$/i;
const TASK_ID = /^task_[0-9A-Z]{26}$/i;

export default function AdminTasks() {
  const [filters, change] = useFilters();
  const { status, mode, model, userId, errorCode, from, to: end } = filters;
  const list = useInfiniteQuery({
    queryKey: ['admin', 'tasks', status, mode, model, userId, errorCode, from, end],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/tasks', {
        signal,
        query: {
          limit: ROWS,
          ...(cursor && { cursor }),
          status: status as TaskStatus | undefined,
          mode: mode as TaskMode | undefined,
          model,
          userId,
          errorCode,
          from,
          to: end,
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const tasks = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFiltered = Boolean(status || mode || model || userId || errorCode || from);
  const clear = (): void => change(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])));
  return (
    <>
      <Head title={t.pages.adminTasks} note={t.admin.tasksNote} />
      <Filters filters={filters} change={change} {...(isFiltered && { clear })} />
      <Listed
        list={list}
        isEmpty={tasks.length === 0}
        empty={
          isFiltered ? (
            <Empty icon="search" title={t.tasks.nothingFits}>
              <Button onClick={clear}>{t.tasks.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="tasks" title={t.admin.noTasks} note={t.admin.noTasksNote} />
          )
        }
      >
        <ForeignTasks tasks={tasks} isLoading={list.isPending} />
      </Listed>
    </>
  );
}

interface FiltersProps {
  filters: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string>>) => void;
  /** Removes all filters; without it there is none. */
  clear?: () => void;
}

function Filters({ filters, change, clear }: FiltersProps) {
  const models = useModels().data ?? [];
  return (
    <div class="filters" role="search">
      <FindById userId={filters['userId'] ?? ''} onUser={(userId) => change({ userId })} />
      <FilterSelect
        name="status"
        label={t.tasks.status}
        any={t.tasks.anyStatus}
        options={Object.entries(t.statuses)}
      />
      <FilterSelect
        name="mode"
        label={t.tasks.mode}
        any={t.tasks.anyMode}
        options={Object.entries(t.modes)}
      />
      <FilterSelect
        name="model"
        label={t.tasks.model}
        any={t.tasks.anyModel}
        options={models.map(({ id }) => [id, id])}
      />
      <FilterBox
        label={t.admin.errorCode}
        value={filters['errorCode'] ?? ''}
        onValue={(errorCode) => change({ errorCode })}
      />
      <RangeTag />
      {clear && (
        <Button look="quiet" onClick={clear}>
          {t.tasks.clear}
        </Button>
      )}
    </div>
  );
}

/** Goes to a task whose id is pasted, and filters by a user whose id is pasted. */
function FindById({ userId, onUser }: { userId: string; onUser: (userId: string) => void }) {
  const [text, setText] = useState(userId);
  const { route } = useLocation();
  return (
    <FilterBox
      isMain
      label={t.admin.taskOrUser}
      value={userId || text}
      onValue={(value) => {
        const id = value.trim();
        setText(value);
        if (TASK_ID.test(id)) route(to(`admin/tasks/${id}`));
        else if (USER_ID.test(id)) onUser(id);
        else if (userId) onUser('');
      }}
    />
  );
}
