// Tasks: the user's own, as a table or a grid that moves by itself, with cancel and retry for many at once.
import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { unseenTasks } from '../../data/events.ts';
import { useFilters } from '../../data/filters.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { promptOf } from '../../data/prompts.ts';
import { useTasks } from '../../data/queries.ts';
import { useStore } from '../../data/store.ts';
import { downloadCsv } from '../../data/csv.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button, ButtonLink, Choices } from '../../ui/controls.tsx';
import { useRowKeys, More } from '../../ui/list.tsx';
import { Empty, Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { TaskFilterBar, queryOf } from './filters.tsx';
import { Selection } from './selection.tsx';
import { TaskGrid, TaskTable } from './views.tsx';

export function Tasks() {
  const [filters] = useFilters();
  const query = queryOf(filters);
  const [held, setHeld] = useState<readonly Task[] | null>(null);
  const list = useTasks(query, { isPaused: held !== null });
  const tasks = held ?? list.data?.pages.flatMap(({ data }) => data) ?? [];
  useEffect(() => setHeld(null), [JSON.stringify(filters)]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { tasksView } = useStore(preferences);
  const { route } = useLocation();
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const active = useRowKeys(tasks.length, {
    open: (row) => route(to(`tasks/${tasks[row]?.id}`)),
    select: (row) => tasks[row] && toggle(tasks[row].id),
  });
  const shown = { tasks, active, selected, toggle, selectAll: setSelected, isLoading: list.isPending };
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      <Head title={t.pages.tasks} note={t.tasks.note}>
        <Choices
          label={t.tasks.view}
          isHiddenLabel
          isSegmented
          value={tasksView}
          options={[
            { value: 'table', label: t.tasks.table },
            { value: 'grid', label: t.tasks.grid },
          ]}
          onValue={(view) => setPreference('tasksView', view)}
        />
        <Button
          icon={held ? 'play' : 'pause'}
          aria-pressed={held !== null}
          disabled={tasks.length === 0}
          title={held ? t.tasks.resumeNote : t.tasks.pauseNote}
          onClick={() => setHeld(held ? null : tasks)}
        >
          {held ? t.tasks.resume : t.tasks.pause}
        </Button>
        <Button icon="download" disabled={tasks.length === 0} onClick={() => saveCsv(tasks)}>
          {t.csv}
        </Button>
        <ButtonLink look="primary" icon="plus" class="phone-gone" href={to('create')}>
          {t.pages.create}
        </ButtonLink>
      </Head>
      <TaskFilterBar />
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {held === null && <Newer tasks={tasks} />}
      {!list.isPending && tasks.length === 0 ? (
        <Nothing isFiltered={isFiltered} />
      ) : (
        <div class={tasksView === 'table' ? 'table-card' : 'stack'}>
          {tasksView === 'table' ? <TaskTable {...shown} /> : <TaskGrid {...shown} />}
          {!list.isPending && held === null && <More pages={list} />}
        </div>
      )}
      {selected.size > 0 && (
        <Selection tasks={tasks.filter(({ id }) => selected.has(id))} onDone={() => setSelected(new Set())} />
      )}
    </>
  );
}

/** Tasks that arrived since the list was read wait behind a button, so that no row jumps away. */
function Newer({ tasks }: { tasks: readonly Task[] }) {
  const listed = new Set(tasks.map(({ id }) => id));
  const unseen = [...useStore(unseenTasks)].filter((id) => !listed.has(id));
  const queries = useQueryClient();
  useEffect(() => () => unseenTasks.set(new Set()), []);
  if (unseen.length === 0) return null;
  const show = (): void => {
    unseenTasks.set(new Set());
    void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  return (
    <Button class="full" icon="retry" onClick={show}>
      {t.tasks.newer(unseen.length)}
    </Button>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <div class="card">
      {isFiltered ? (
        <Empty icon="search" title={t.tasks.nothingFits}>
          <ButtonLink href={to('tasks')}>{t.tasks.clear}</ButtonLink>
        </Empty>
      ) : (
        <Empty icon="tasks" title={t.tasks.empty} note={t.tasks.emptyNote}>
          <ButtonLink look="primary" icon="plus" href={to('create')}>
            {t.pages.create}
          </ButtonLink>
          <ButtonLink href={to('keys')}>{t.makeKey}</ButtonLink>
        </Empty>
      )}
    </div>
  );
}

function saveCsv(tasks: readonly Task[]): void {
  const columns = [
    'id',
    'mode',
    'model',
    'status',
    'creditsEstimate',
    'creditsCharged',
    'errorCode',
    'attempt',
    'createdAt',
    'completedAt',
    'prompt',
  ];
  downloadCsv(
    'tasks.csv',
    columns,
    tasks.map((task) => [
      ...[task.id, task.mode, task.model, task.status, task.creditsEstimate, task.creditsCharged],
      ...[task.errorCode, task.attempt, task.createdAt, task.completedAt, promptOf(task)],
    ]),
  );
}
