// What can be done with several tasks at once.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { downloadAll } from '../../data/download.ts';
import { taskChanged } from '../../data/events.ts';
import type { Task } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button } from '../../ui/controls.tsx';
import { isOpen } from '../../ui/status.tsx';
import { announce } from '../../ui/toasts.tsx';

/** So many requests are under way at once. */
const AT_ONCE = 4;

export function Selection({ tasks, onDone }: { tasks: readonly Task[]; onDone: () => void }) {
  const queries = useQueryClient();
  const open = tasks.filter(isOpen);
  const failed = tasks.filter(({ status }) => status === 'failed');
  const files = tasks.flatMap(({ outputs }) => outputs.map(({ url }) => url));
  const settle = (done: (count: number) => string) => (outcome: { done: number; failed: number }) => {
    announce(
      [outcome.done > 0 && done(outcome.done), outcome.failed > 0 && t.tasks.notAll(outcome.failed)]
        .filter(Boolean)
        .join('. '),
    );
    void queries.invalidateQueries({ queryKey: ['tasks'] });
    onDone();
  };
  const cancel = useAction({
    mutationFn: () => forEach(open, ({ id }) => call('DELETE /api/tasks/:id', { params: { id } })),
    onSuccess: settle(t.tasks.cancelled),
  });
  const retry = useAction({
    mutationFn: () =>
      forEach(failed, ({ id, attempt }) =>
        call('POST /api/tasks/:id/retry', { params: { id }, idempotencyKey: `${id}-retry-${attempt}` }),
      ),
    onSuccess: settle(t.tasks.retried),
  });
  const save = useAction({ mutationFn: () => downloadAll(files) });
  return (
    <div class="selection" role="region" aria-label={t.tasks.selected(tasks.length)}>
      <span class="note strong">{t.tasks.selected(tasks.length)}</span>
      {open.length > 0 && (
        <Button isSmall icon="stop" isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
          {t.tasks.cancel} ({open.length})
        </Button>
      )}
      {failed.length > 0 && (
        <Button isSmall icon="retry" isBusy={retry.isPending} onClick={() => retry.mutate()}>
          {t.tasks.retry} ({failed.length})
        </Button>
      )}
      {files.length > 0 && (
        <Button isSmall icon="download" isBusy={save.isPending} onClick={() => save.mutate()}>
          {t.tasks.download} ({files.length})
        </Button>
      )}
      <Button look="quiet" isSmall icon="cross" aria-label={t.close} onClick={onDone} />
    </div>
  );
}

async function forEach(
  tasks: readonly Task[],
  act: (task: Task) => Promise<{ data: Task }>,
): Promise<{ done: number; failed: number }> {
  const waiting = [...tasks];
  const outcome = { done: 0, failed: 0 };
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      try {
        taskChanged((await act(task)).data);
        outcome.done += 1;
      } catch {
        outcome.failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcome;
}
