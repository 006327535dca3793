// What was sent to an endpoint, with its answers, and sending it again.
import { useQueryClient } from '@tanstack/preact-query';
import { useAction } from '../../data/action.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import type { Webhook } from '../../data/types.ts';
import type { useDeliveries } from '../../data/webhooks.ts';
import { t } from '../../texts/pages.ts';
import { Listed } from '../../ui/list.tsx';
import { Empty } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { announce } from '../../ui/toasts.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import { DeliveryTable, shownOf } from './delivery-table.tsx';

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
        <DeliveryTable
          deliveries={sent.map(shownOf)}
          isLoading={list.isPending}
          onOpen={(chosen) => change({ delivery: chosen })}
          onResend={webhook.disabledAt === null ? (chosen) => resend.mutate(chosen) : null}
        />
      </Listed>
      {shown && (
        <DeliveryDetails
          delivery={shownOf(shown)}
          body={shown.answer?.body ?? null}
          onClose={() => change({ delivery: '' })}
        />
      )}
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
