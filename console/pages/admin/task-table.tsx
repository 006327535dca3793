// The list of tasks of any user: all of them, or those of one.
import { to } from '../../data/addresses.ts';
import type { ForeignTask } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { formatCredits } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { BoneRows } from '../../ui/list.tsx';
import { isOpen, Status } from '../../ui/status.tsx';
import { Age } from '../../ui/times.tsx';
import { Duration } from '../tasks/views.tsx';

interface TableProps {
  tasks: readonly ForeignTask[];
  isLoading: boolean;
  /** Whether all are of one user, who then need not be named. */
  isOfOne?: boolean;
}

const COLUMNS = 6;

export function ForeignTasks({ tasks, isLoading, isOfOne = false }: TableProps) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={t.pages.tasks}>
      <table class="table dense cards" aria-busy={isLoading}>
        <thead>
          <tr>
            <th>{t.tasks.prompt}</th>
            {!isOfOne && <th>{t.admin.user}</th>}
            <th class="tiny">{t.tasks.status}</th>
            <th class="number tiny">{t.tasks.time}</th>
            <th class="number tiny">{t.tasks.credits}</th>
            <th class="number tiny">{t.tasks.age}</th>
          </tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={isOfOne ? COLUMNS - 1 : COLUMNS} />}
          {tasks.map((task) => (
            <Row key={task.id} task={task} isOfOne={isOfOne} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ task, isOfOne }: { task: ForeignTask; isOfOne: boolean }) {
  return (
    <tr>
      <td>
        <a class="main-link" href={to(`admin/tasks/${task.id}`)} title={task.id}>
          <span class="row">
            <Icon name={task.mode} class="faint" size={14} />
            {task.model}
          </span>
        </a>
        {task.errorCode && <div class="small bad reason">{task.errorCode}</div>}
      </td>
      {!isOfOne && (
        <td class="phone-hidden">
          <a class="above mono small link" href={to(`admin/users/${task.userId}`)} title={task.userId}>
            {`${task.userId.slice(0, 4)}…${task.userId.slice(-6)}`}
          </a>
        </td>
      )}
      <td class="tiny">
        <Status task={task} />
      </td>
      <td class="number tiny faint phone-hidden">
        <Duration task={task} />
      </td>
      <td class="number tiny">
        {isOpen(task) ? (
          <span class="faint" title={t.tasks.estimate}>
            ≤ {formatCredits(task.creditsEstimate)}
          </span>
        ) : (
          formatCredits(task.creditsCharged)
        )}
      </td>
      <td class="number tiny faint">
        <Age at={task.createdAt} />
      </td>
    </tr>
  );
}
