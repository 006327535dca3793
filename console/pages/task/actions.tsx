// What can be done with a task: cancel it, retry it at today's price, order it again with changes.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { call } from '../../data/call.ts';
import { taskChanged } from '../../data/events.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button, ButtonLink } from '../../ui/controls.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Line } from '../../ui/lines.tsx';
import { isOpen } from '../../ui/status.tsx';
import { announce } from '../../ui/toasts.tsx';
import { usePriceToday } from './price-lines.tsx';

export function TaskActions({ task }: { task: Task }) {
  const [isRetrying, setRetrying] = useState(false);
  return (
    <>
      {isOpen(task) && <Cancel task={task} />}
      {task.status === 'failed' && (
        <Button look="primary" icon="retry" onClick={() => setRetrying(true)}>
          {t.task.retry}
        </Button>
      )}
      <ButtonLink icon="plus" href={to('create', { like: task.id })}>
        {t.task.again}
      </ButtonLink>
      {isRetrying && <Retry task={task} onClose={() => setRetrying(false)} />}
    </>
  );
}

function Cancel({ task }: { task: Task }) {
  const queries = useQueryClient();
  const cancel = useAction({
    mutationFn: () => call('DELETE /api/tasks/:id', { params: { id: task.id } }),
    onSuccess: ({ data }) => taskChanged(data),
    onError: (error) => {
      if (!(error instanceof ApiError && error.code === 'task_not_cancellable')) return;
      announce(t.task.tooFast, 'info');
      void queries.invalidateQueries({ queryKey: ['task', task.id] });
    },
  });
  return (
    <Button
      icon="stop"
      isBusy={cancel.isPending || task.cancelRequestedAt !== null}
      onClick={() => cancel.mutate()}
    >
      {task.cancelRequestedAt !== null || cancel.isPending ? t.cancelling : t.task.cancel}
    </Button>
  );
}

function Retry({ task, onClose }: { task: Task; onClose: () => void }) {
  const today = usePriceToday(task);
  const retry = useAction({
    mutationFn: () =>
      call('POST /api/tasks/:id/retry', {
        params: { id: task.id },
        idempotencyKey: `${task.id}-retry-${task.attempt}`,
      }),
    onSuccess: ({ data }) => {
      taskChanged(data);
      onClose();
    },
  });
  return (
    <Confirm
      title={t.task.retryTitle}
      note={t.task.retryNote}
      action={t.task.retry}
      run={retry}
      onClose={onClose}
    >
      <dl class="lines">
        <Line credits={task.creditsEstimate}>{t.task.before}</Line>
        <Line look="sum" credits={today.data?.creditsEstimate}>
          {t.task.today}
        </Line>
      </dl>
    </Confirm>
  );
}
