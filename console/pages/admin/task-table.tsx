// The list of tasks of any user: all of them, or those of one.
import { to } from '../../data/addresses.ts';
import type { ForeignTask } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Icon } from '../../ui/icons.tsx';
import { CardTable } from '../../ui/list.tsx';
import { TaskCells, TaskHeads } from '../tasks/views.tsx';

interface TableProps {
  tasks: readonly ForeignTask[];
  isLoading: boolean;
  /** Whether all are of one user, who then need not be named. */
  isOfOne?: boolean;
}

const COLUMNS = 6;

export function ForeignTasks({ tasks, isLoading, isOfOne = false }: TableProps) {
  return (
    <CardTable
      label={t.pages.tasks}
      columns={isOfOne ? COLUMNS - 1 : COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.tasks.prompt}</th>
          {!isOfOne && <th>{t.admin.user}</th>}
          <TaskHeads />
        </>
      }
    >
      {tasks.map((task) => (
        <Row key={task.id} task={task} isOfOne={isOfOne} />
      ))}
    </CardTable>
  );
}

function Row({ task, isOfOne }: { task: ForeignTask; isOfOne: boolean }) {
  return (
    <tr>
      <td class="phone-wide">
        <a class="main-link" href={to(`admin/tasks/${task.id}`)} title={task.id}>
          <span class="row">
            <Icon name={task.mode} class="faint" size={14} />
            {task.model}
          </span>
        </a>
        {task.status === 'failed' && <div class="small bad reason">{task.errorCode}</div>}
      </td>
      {!isOfOne && (
        <td class="phone-hidden">
          <a class="above mono small link" href={to(`admin/users/${task.userId}`)} title={task.userId}>
            {`${task.userId.slice(0, 4)}…${task.userId.slice(-6)}`}
          </a>
        </td>
      )}
      <TaskCells task={task} />
    </tr>
  );
}
