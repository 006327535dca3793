// What a task was to cost, what it cost, and what came back: each line with its reason.
import { useQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import type { Task, TaskOrder } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Line, PriceLines } from '../../ui/lines.tsx';
import { isOpen } from '../../ui/status.tsx';

export function PriceOf({ task }: { task: Task }) {
  const ordered = task.breakdown.ordered;
  const charged = task.breakdown.charged;
  const isCharged = task.status === 'completed';
  const returned = task.creditsEstimate - task.creditsCharged;
  return (
    <div class="stack tight">
      <dl class="lines">
        <PriceLines lines={charged.length > 0 ? charged : ordered} billingMode={task.billingMode} />
        <Line credits={task.creditsEstimate}>{isOpen(task) ? t.task.reserved : t.task.ordered}</Line>
        {!isOpen(task) && <Line credits={returned}>{t.task.returned}</Line>}
        <Line look="sum" credits={isOpen(task) ? null : task.creditsCharged}>
          {t.task.charged}
        </Line>
        {task.creditsRefunded > 0 && <Line credits={task.creditsRefunded}>{t.credits.types['refund']}</Line>}
      </dl>
      {!isCharged && <p class="small faint">{t.task.free}</p>}
    </div>
  );
}

/** The price of the same order at this moment; read when a retry is about to be confirmed. */
export function usePriceToday(task: Task) {
  return useQuery({
    queryKey: ['estimate', 'retry', task.id],
    gcTime: 0,
    queryFn: async ({ signal }) => (await call('POST /api/estimates', { signal, body: orderOf(task) })).data,
  });
}

/** The order of a task as it would be sent again. What was masked when it was kept is left out. */
export function orderOf({ mode, requestPayload }: Task): TaskOrder {
  const fields = Object.entries(requestPayload).filter(
    ([, value]) => !JSON.stringify(value).includes('[masked'),
  );
  return { ...Object.fromEntries(fields), mode } as TaskOrder;
}
