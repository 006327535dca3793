// What was sent to an endpoint, as a table, for its owner and for administrators.
import type { ForeignDelivery, WebhookDelivery } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { formatDuration } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { CardTable } from '../../ui/list.tsx';
import { Age } from '../../ui/times.tsx';

const COLUMNS = 5;
const ICONS = { pending: 'clock', delivered: 'check', failed: 'cross' } as const;
/** The colours of states of tasks that mean the same. */
const LOOKS = { pending: 'in_progress', delivered: 'completed', failed: 'failed' } as const;

interface TableProps {
  deliveries: readonly ForeignDelivery[];
  isLoading: boolean;
  onOpen: (id: string) => void;
  /** Null where nothing can be sent again. */
  onResend: ((id: string) => void) | null;
}

export function DeliveryTable({ deliveries, isLoading, onOpen, onResend }: TableProps) {
  return (
    <CardTable
      label={t.webhooks.deliveries}
      columns={COLUMNS}
      bones={4}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.webhooks.event}</th>
          <th>{t.webhooks.state}</th>
          <th>{t.webhooks.answer}</th>
          <th class="number">{t.webhooks.time}</th>
          {onResend && (
            <th class="tiny">
              <span class="unseen">{t.webhooks.resend}</span>
            </th>
          )}
        </>
      }
    >
      {deliveries.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} onOpen={onOpen} onResend={onResend} />
      ))}
    </CardTable>
  );
}

interface RowProps extends Pick<TableProps, 'onOpen' | 'onResend'> {
  delivery: ForeignDelivery;
}

function Row({ delivery, onOpen, onResend }: RowProps) {
  const { id, type, status, answerStatus, failure, durationMs, createdAt } = delivery;
  return (
    <tr>
      <td>
        <button type="button" class="main-link as-link mono" onClick={() => onOpen(id)}>
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
        {answerStatus !== null && <span class={answerStatus < 300 ? '' : 'bad'}>{answerStatus}</span>}
        {answerStatus === null && failure && <span class="bad">{t.webhooks.failures[failure.code]}</span>}
        {answerStatus === null && !failure && '–'}
        {durationMs !== null && <span class="faint"> · {formatDuration(durationMs)}</span>}
      </td>
      <td class="number tiny faint phone-hidden">
        <Age at={createdAt} />
      </td>
      {onResend && (
        <td class="tiny phone-wide">
          <span class="row end">
            <Button
              isSmall
              look="quiet"
              class="above"
              aria-label={`${t.webhooks.resend}: ${type}`}
              onClick={() => onResend(id)}
            >
              {t.webhooks.resend}
            </Button>
          </span>
        </td>
      )}
    </tr>
  );
}

/** An owner's delivery as the table and its details take it. */
export function shownOf({ answer, ...delivery }: WebhookDelivery): ForeignDelivery {
  return { ...delivery, answerStatus: answer?.status ?? null };
}
