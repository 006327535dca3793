// The list of tasks in its two forms: a table, and a grid of pictures.
import { to } from '../../data/addresses.ts';
import { firstLook } from '../../data/first-look.ts';
import { promptOf } from '../../data/prompts.ts';
import { useModels } from '../../data/queries.ts';
import { useStore } from '../../data/store.ts';
import type { Task } from '../../data/types.ts';
import { sentenceOf, t } from '../../texts/index.ts';
import { formatCredits, formatDuration } from '../../ui/format.ts';
import { BoneRows } from '../../ui/list.tsx';
import { isOpen, Status } from '../../ui/status.tsx';
import { Thumb } from '../../ui/thumb.tsx';
import { Age, useNow } from '../../ui/times.tsx';

interface Shown {
  tasks: readonly Task[];
  /** The row that the keyboard has moved to. */
  active: number;
  selected: ReadonlySet<string>;
  toggle: (id: string) => void;
  selectAll: (ids: ReadonlySet<string>) => void;
  isLoading: boolean;
}

const COLUMNS = 6;

export function TaskTable({ tasks, active, selected, toggle, selectAll, isLoading }: Shown) {
  const isAll = tasks.length > 0 && selected.size === tasks.length;
  return (
    <div class="table-scroll">
      <table class="table cards" aria-busy={isLoading}>
        <thead>
          <tr>
            <th class="check-cell">
              <input
                type="checkbox"
                aria-label={t.selectAll}
                checked={isAll}
                onChange={() => selectAll(new Set(isAll ? [] : tasks.map(({ id }) => id)))}
              />
            </th>
            <th>{t.tasks.prompt}</th>
            <TaskHeads />
          </tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={COLUMNS} rows={8} />}
          {tasks.map((task, row) => (
            <Row
              key={task.id}
              task={task}
              isActive={row === active}
              isSelected={selected.has(task.id)}
              toggle={toggle}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  task,
  isActive,
  isSelected,
  toggle,
}: {
  task: Task;
  isActive: boolean;
  isSelected: boolean;
  toggle: (id: string) => void;
}) {
  const prompt = promptOf(task);
  return (
    <tr data-active={isActive} aria-selected={isSelected}>
      <td class="check-cell">
        <input
          type="checkbox"
          class="above"
          aria-label={`${t.tasks.select}: ${prompt ?? task.id}`}
          checked={isSelected}
          onChange={() => toggle(task.id)}
        />
      </td>
      <td class="phone-wide stretch">
        <div class="row">
          <Thumb task={task} />
          <div class="grow">
            <a class="main-link cut" href={to(`tasks/${task.id}`)}>
              {prompt ?? t.tasks.noPrompt}
            </a>
            <div class="cut small faint">
              {task.model}
              {task.attempt > 1 && ` · ${t.attempt} ${task.attempt}`}
              {task.status === 'failed' && <span class="bad"> · {reasonOf(task)}</span>}
            </div>
          </div>
        </div>
      </td>
      <TaskCells task={task} />
    </tr>
  );
}

type Figures = Pick<
  Task,
  | 'model'
  | 'status'
  | 'progress'
  | 'cancelRequestedAt'
  | 'createdAt'
  | 'startedAt'
  | 'completedAt'
  | 'creditsEstimate'
  | 'creditsCharged'
>;

/** Heads of the columns that every table of tasks ends with. */
export function TaskHeads() {
  return (
    <>
      <th class="tiny">{t.tasks.status}</th>
      <th class="number tiny">{t.tasks.time}</th>
      <th class="number tiny">{t.tasks.credits}</th>
      <th class="number tiny">{t.tasks.age}</th>
    </>
  );
}

/** Status, time, credits and age of a task, as cells. */
export function TaskCells({ task }: { task: Figures }) {
  return (
    <>
      <td class="tiny">
        <Status task={task} />
      </td>
      <td class="number tiny faint phone-hidden">
        <Duration task={task} />
        {isOpen(task) && <Usual model={task.model} />}
      </td>
      <td class="number tiny">
        <Price task={task} />
      </td>
      <td class="number tiny faint phone-hidden">
        <Age at={task.createdAt} />
      </td>
    </>
  );
}

export function TaskGrid({ tasks, selected, toggle, active }: Shown) {
  return (
    <ul class="grid-view">
      {tasks.map((task, row) => (
        <li key={task.id} class="tile" data-active={row === active}>
          <Thumb task={task} size={28} />
          <input
            type="checkbox"
            class="check-cell"
            aria-label={`${t.tasks.select}: ${promptOf(task) ?? task.id}`}
            checked={selected.has(task.id)}
            onChange={() => toggle(task.id)}
          />
          <div class="tile-text">
            <a class="cut strong note" href={to(`tasks/${task.id}`)}>
              {promptOf(task) ?? t.tasks.noPrompt}
            </a>
            <span class="cut small faint">{task.model}</span>
            <span class="row between small">
              <Status task={task} />
              <Price task={task} />
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** How long such tasks take, beneath how long this one takes so far. */
function Usual({ model }: { model: string }) {
  const isLooking = useStore(firstLook);
  const usual = useModels(isLooking).data?.find(({ id }) => id === model)?.usual_seconds;
  return usual ? <div class="small">{t.tasks.usual(formatDuration(usual.p50 * 1000))}</div> : null;
}

/** The reason of a failure in few words. */
export function reasonOf(task: Pick<Task, 'errorCode' | 'errorMessage'>): string {
  return sentenceOf({ code: task.errorCode ?? '', message: task.errorMessage ?? '' });
}

/** What it cost; while it is open, what is set aside for it. */
function Price({ task }: { task: Pick<Task, 'status' | 'creditsEstimate' | 'creditsCharged'> }) {
  if (isOpen(task))
    return (
      <span class="faint" title={t.tasks.estimate}>
        ≤ {formatCredits(task.creditsEstimate)}
      </span>
    );
  return <span>{formatCredits(task.creditsCharged)}</span>;
}

/** How long the task took, or takes so far. */
export function Duration({
  task,
}: {
  task: Pick<Task, 'status' | 'createdAt' | 'startedAt' | 'completedAt'>;
}) {
  const now = useNow(isOpen(task));
  const begin = Date.parse(task.startedAt ?? task.createdAt);
  const end = task.completedAt ? Date.parse(task.completedAt) : now;
  return <>{formatDuration(Math.max(0, end - begin))}</>;
}
