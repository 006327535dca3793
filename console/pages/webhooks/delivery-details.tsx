// One delivery: its attempts, and what the receiver answered last.
import { to } from '../../data/addresses.ts';
import type { ForeignDelivery } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { formatDuration, UNKNOWN } from '../../ui/format.ts';
import { Code, Copy } from '../../ui/parts.tsx';
import { Moment } from '../../ui/times.tsx';

interface DetailsProps {
  delivery: ForeignDelivery;
  /** What the receiver answered last; null for no answer, absent where only its owner reads it. */
  body?: string | null;
  onClose: () => void;
}

export function DeliveryDetails({ delivery, body, onClose }: DetailsProps) {
  const { answerStatus, failure, taskId, nextAttemptAt, durationMs } = delivery;
  const isForeign = body === undefined;
  return (
    <Dialog title={t.webhooks.names[delivery.type]} class="wide" onClose={onClose}>
      <div class="dialog-body">
        <dl class="facts">
          <dt>{t.webhooks.event}</dt>
          <dd>
            <code>{delivery.type}</code>
          </dd>
          <dt>webhook-id</dt>
          <dd>
            <Copy text={delivery.eventId} />
          </dd>
          {taskId && (
            <>
              <dt>{t.webhooks.task}</dt>
              <dd>
                <a class="link mono" href={to(isForeign ? `admin/tasks/${taskId}` : `tasks/${taskId}`)}>
                  {taskId}
                </a>
              </dd>
            </>
          )}
          <dt>{t.webhooks.state}</dt>
          <dd>{t.webhooks.statuses[delivery.status]}</dd>
          <dt>{t.webhooks.attempts}</dt>
          <dd>
            {delivery.attempts}
            {delivery.lastAttemptAt && (
              <span class="faint">
                {' '}
                · <Moment at={delivery.lastAttemptAt} />
              </span>
            )}
          </dd>
          {nextAttemptAt && (
            <>
              <dt>{t.webhooks.next}</dt>
              <dd>
                <Moment at={nextAttemptAt} />
              </dd>
            </>
          )}
          {durationMs !== null && (
            <>
              <dt>{t.webhooks.took}</dt>
              <dd>{formatDuration(durationMs)}</dd>
            </>
          )}
          <dt>{t.webhooks.answer}</dt>
          <dd>
            {answerStatus ?? (delivery.attempts === 0 ? UNKNOWN : t.webhooks.noAnswer)}
            {failure && <div class="bad">{t.webhooks.failures[failure.code]}</div>}
          </dd>
        </dl>
        {answerStatus !== null && (
          <>
            <h3>{t.webhooks.body}</h3>
            {body ? (
              <Code text={body} label={t.webhooks.body} />
            ) : (
              <p class="note soft">{isForeign ? t.admin.masked : t.webhooks.emptyBody}</p>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
