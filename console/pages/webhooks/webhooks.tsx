// Webhooks: the endpoints of the user, what each is told of, and whether and why one gets nothing.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import type { Webhook } from '../../data/types.ts';
import { useWebhooks } from '../../data/webhooks.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { CardTable } from '../../ui/list.tsx';
import { Card, Empty, Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age } from '../../ui/times.tsx';
import { Secret } from './secret.tsx';
import { WebhookState } from './state.tsx';
import { WebhookForm, type MadeWebhook } from './webhook-form.tsx';

const COLUMNS = 4;

export default function Webhooks() {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeWebhook | null>(null);
  const { route } = useLocation();
  const list = useWebhooks();
  const webhooks = list.data ?? [];
  const make = (
    <Button look="primary" icon="plus" onClick={() => setMaking(true)}>
      {t.webhooks.make}
    </Button>
  );
  return (
    <>
      <Head title={t.pages.webhooks} note={t.webhooks.note}>
        {make}
      </Head>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {list.data && webhooks.length === 0 ? (
        <Card>
          <Empty icon="webhooks" title={t.webhooks.empty} note={t.webhooks.emptyNote}>
            {make}
          </Empty>
        </Card>
      ) : (
        <div class="table-card">
          <Table webhooks={webhooks} isLoading={list.isPending} />
        </div>
      )}
      {isMaking && (
        <WebhookForm
          onClose={() => setMaking(false)}
          onMade={(webhook) => {
            setMaking(false);
            setMade(webhook);
          }}
        />
      )}
      {made && <Secret secret={made.secret} onClose={() => route(to(`webhooks/${made.id}`))} />}
    </>
  );
}

function Table({ webhooks, isLoading }: { webhooks: readonly Webhook[]; isLoading: boolean }) {
  return (
    <CardTable
      label={t.pages.webhooks}
      columns={COLUMNS}
      isLoading={isLoading}
      bones={3}
      isTall
      heads={
        <>
          <th>{t.webhooks.url}</th>
          <th>{t.webhooks.events}</th>
          <th>{t.webhooks.state}</th>
          <th class="number">{t.webhooks.lastSuccess}</th>
        </>
      }
    >
      {webhooks.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} />
      ))}
    </CardTable>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const { id, url, description, events, disabledReason, lastSuccessAt } = webhook;
  return (
    <tr>
      <td class="phone-wide stretch">
        <a class="main-link cut" href={to(`webhooks/${id}`)}>
          {url}
        </a>
        {description && <div class="small faint cut">{description}</div>}
      </td>
      <td class="phone-hidden small soft">
        {events.map((event) => (
          <div key={event} class="mono">
            {event}
          </div>
        ))}
      </td>
      <td class="tiny">
        <WebhookState webhook={webhook} />
        {disabledReason && <div class="small faint webhook-why">{t.webhooks.why[disabledReason]}</div>}
      </td>
      <td class="number tiny faint">{lastSuccessAt ? <Age at={lastSuccessAt} /> : t.webhooks.never}</td>
    </tr>
  );
}
