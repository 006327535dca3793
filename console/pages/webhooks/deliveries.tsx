// What was sent to an endpoint, with its answers, and sending it again.
import { useQueryClient } from '@tanstack/preact-query';
import { useAction } from '../../data/action.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import type { Webhook, WebhookDelivery } from '../../data/types.ts';
import type { useDeliveries } from '../../data/webhooks.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { formatDuration } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { BoneRows, Listed } from '../../ui/list.tsx';
import { Empty } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age } from '../../ui/times.tsx';
import { announce } from '../../ui/toasts.tsx';
import { DeliveryDetails } from './delivery-details.tsx';

const COLUMNS = 5;
const ICONS = { pending: 'clock', delivered: 'check', failed: 'cross' } as const;
/** The colours of states of tasks that mean the same. */
const LOOKS = { pending: 'in_progress', delivered: 'completed', failed: 'failed' } as const;

interface DeliveriesProps {
  webhook: Webhook;
  list: ReturnType<typeof useDeliveries>;
}

export function Deliveries({ webhook, list }: DeliveriesProps) {
  const [{ delivery: id }, change] = useFilters();
  const sent = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const shown = sent.find((delivery) => delivery.id === id);
  const resend = useResend(webhook.id);
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>{t.webhooks.deliveries}</h2>
        <span class="small faint">{t.webhooks.deliveriesNote}</span>
      </div>
      {!shown && <Problem error={resend.error} />}
      <Listed
        list={list}
        isEmpty={sent.length === 0}
        isPart
        empty={<Empty icon="webhooks" title={t.webhooks.noDeliveries} note={t.webhooks.noDeliveriesNote} />}
      >
        <div class="table-scroll" tabIndex={0} role="region" aria-label={t.webhooks.deliveries}>
          <table class="table dense cards" aria-busy={list.isPending}>
            <thead>
              <tr>
                <th>{t.webhooks.event}</th>
                <th>{t.webhooks.state}</th>
                <th>{t.webhooks.answer}</th>
                <th class="number">{t.webhooks.time}</th>
                <th class="tiny">
                  <span class="unseen">{t.webhooks.resend}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.isPending && <BoneRows columns={COLUMNS} rows={4} />}
              {sent.map((delivery) => (
                <Row
                  key={delivery.id}
                  delivery={delivery}
                  onOpen={() => change({ delivery: delivery.id })}
                  onResend={webhook.disabledAt === null ? () => resend.mutate(delivery.id) : null}
                />
              ))}
            </tbody>
          </table>
        </div>
      </Listed>
      {shown && <DeliveryDetails delivery={shown} onClose={() => change({ delivery: '' })} />}
    </section>
  );
}

function useResend(id: string) {
  const queries = useQueryClient();
  return useAction({
    mutationFn: (deliveryId: string) =>
      call('POST /api/webhooks/:id/deliveries/:deliveryId/resend', { params: { id, deliveryId } }),
    onSuccess: () => {
      announce(t.webhooks.resent);
      void queries.invalidateQueries({ queryKey: ['webhooks', id] });
    },
  });
}

interface RowProps {
  delivery: WebhookDelivery;
  onOpen: () => void;
  /** Null while nothing is sent to the endpoint. */
  onResend: (() => void) | null;
}

function Row({ delivery, onOpen, onResend }: RowProps) {
  const { type, status, answer, failure, durationMs, createdAt } = delivery;
  return (
    <tr>
      <td>
        <button type="button" class="main-link as-link mono" onClick={onOpen}>
          {type}
        </button>
      </td>
      <td class="tiny">
        <span class={`status ${LOOKS[status]}`}>
          <Icon name={ICONS[status]} size={14} />
          {t.webhooks.statuses[status]}
        </span>
      </td>
      <td class="soft phone-wide">
        {answer && <span class={answer.status < 300 ? '' : 'bad'}>{answer.status}</span>}
        {!answer && failure && <span class="bad">{t.webhooks.failures[failure.code]}</span>}
        {!answer && !failure && '–'}
        {durationMs !== null && <span class="faint"> · {formatDuration(durationMs)}</span>}
      </td>
      <td class="number tiny faint phone-hidden">
        <Age at={createdAt} />
      </td>
      <td class="tiny phone-wide">
        <span class="row end">
          {onResend && (
            <Button
              isSmall
              look="quiet"
              class="above"
              aria-label={`${t.webhooks.resend}: ${type}`}
              onClick={onResend}
            >
              {t.webhooks.resend}
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}
