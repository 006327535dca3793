// The status of a task, by word and form.
import type { Task } from '../data/types.ts';
import { t } from '../texts/index.ts';
import { Icon, Ring } from './icons.tsx';

type Shown = Pick<Task, 'status' | 'progress' | 'cancelRequestedAt'>;

const ICONS = { queued: 'clock', completed: 'check', failed: 'cross', cancelled: 'stop' } as const;

export function isOpen({ status }: Pick<Task, 'status'>): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Says "cancelling" until the task itself says that it is cancelled. */
export function Status({ task }: { task: Shown }) {
  const { status, progress } = task;
  const isCancelling = isOpen(task) && task.cancelRequestedAt !== null;
  if (isCancelling)
    return (
      <span class="status">
        <Icon name="stop" size={14} />
        {t.cancelling}
      </span>
    );
  return (
    <span class={`status ${status}`}>
      {status === 'in_progress' ? <Ring percent={progress} /> : <Icon name={ICONS[status]} size={14} />}
      {t.statuses[status]}
      {status === 'in_progress' && progress > 0 && <span class="faint">{progress} %</span>}
    </span>
  );
}
