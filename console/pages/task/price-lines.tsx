// What a task was to cost, what it cost, and what came back: each line with its reason.
import { useQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import type { Task, TaskOrder } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { formatCount, formatCredits } from '../../ui/format.ts';
import { isOpen } from '../../ui/status.tsx';

export function PriceLines({ task }: { task: Task }) {
  const ordered = task.breakdown.ordered;
  const charged = task.breakdown.charged;
  const isCharged = task.status === 'completed';
  const returned = task.creditsEstimate - task.creditsCharged;
  return (
    <div class="stack tight">
      <dl class="lines">
        {(isCharged && charged.length > 0 ? charged : ordered).map(({ item, quantity, credits }) => (
          <div key={item}>
            <dt>
              {item} <span class="faint">× {formatCount(quantity)}</span>
            </dt>
            <dd>{formatCredits(credits)}</dd>
          </div>
        ))}
        <div>
          <dt>{isOpen(task) ? t.task.reserved : t.task.ordered}</dt>
          <dd>{formatCredits(task.creditsEstimate)}</dd>
        </div>
        {!isOpen(task) && (
          <div>
            <dt>{t.task.returned}</dt>
            <dd>{formatCredits(returned)}</dd>
          </div>
        )}
        <div class="sum">
          <dt>{t.task.charged}</dt>
          <dd>{isOpen(task) ? '–' : formatCredits(task.creditsCharged)}</dd>
        </div>
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
