// One endpoint: what it is told of, whether it works, and what was sent to it with its answers.
import { useEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import type { Webhook } from '../../data/types.ts';
import { useDeliveries, useWebhook } from '../../data/webhooks.ts';
import { t } from '../../texts/pages.ts';
import { Button, ButtonLink } from '../../ui/controls.tsx';
import { formatCredits, formatMoment } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Bone, Card, Copy, Empty, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age, Moment } from '../../ui/times.tsx';
import { useSwitch, useTest, WebhookActions } from './actions.tsx';
import { Deliveries } from './deliveries.tsx';
import { WebhookState } from './state.tsx';

export default function WebhookPage() {
  const id = useRoute().params['id'] ?? '';
  const deliveries = useDeliveries(id);
  const sent = deliveries.data?.pages.flatMap(({ data }) => data) ?? [];
  const { data: webhook, error, refetch } = useWebhook(id);
  // Each attempt can change the state of the endpoint.
  const attempts = sent.reduce((sum, delivery) => sum + delivery.attempts, 0);
  useEffect(() => {
    if (attempts > 0) void refetch();
  }, [attempts]);
  if (error instanceof ApiError && [400, 404].includes(error.status))
    return (
      <Empty isPage icon="search" title={t.webhooks.missing}>
        <ButtonLink href={to('webhooks')}>{t.webhooks.back}</ButtonLink>
      </Empty>
    );
  if (!webhook)
    return (
      <>
        <Head title={<Bone width="260px" height="20px" />} name={t.pages.webhooks} />
        <Problem error={error} onRetry={() => void refetch()} />
        <Card>
          <Skeleton lines={8} />
        </Card>
      </>
    );
  return (
    <>
      <Top webhook={webhook} />
      <div class="columns">
        <Deliveries key={id} webhook={webhook} list={deliveries} />
        <div class="stack">
          <Card title={t.task.details}>
            <Facts webhook={webhook} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Top({ webhook }: { webhook: Webhook }) {
  const { id, url, disabledReason, failingSince, previousSecretUntil } = webhook;
  const test = useTest(id);
  const change = useSwitch(id);
  return (
    <>
      <div class="stack tight">
        <a class="row note soft back" href={to('webhooks')}>
          <Icon name="back" size={14} />
          {t.webhooks.back}
        </a>
        <Head title={<span class="title-prompt">{url}</span>} name={url}>
          <WebhookActions webhook={webhook} test={test} change={change} />
        </Head>
        <div class="row wide wrap note soft">
          <WebhookState webhook={webhook} />
          {webhook.description && <span class="break">{webhook.description}</span>}
          <Copy text={id} />
        </div>
      </div>
      <Problem error={test.error ?? change.error} />
      {disabledReason && (
        <Notice look="warn">
          <div class="row wrap between">
            <span>{t.webhooks.why[disabledReason]}</span>
            <Button isSmall isBusy={change.isPending} onClick={() => change.mutate(false)}>
              {t.webhooks.enable}
            </Button>
          </div>
        </Notice>
      )}
      {!disabledReason && failingSince && (
        <Notice look="warn">{t.webhooks.failingNote(formatMoment(failingSince))}</Notice>
      )}
      {previousSecretUntil && <Notice>{t.webhooks.both(formatMoment(previousSecretUntil))}</Notice>}
    </>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { events, balanceBelow, lastSuccessAt, createdAt } = webhook;
  return (
    <dl class="facts">
      <dt>{t.webhooks.events}</dt>
      <dd>
        {events.map((event) => (
          <div key={event} title={t.webhooks.names[event]}>
            <code>{event}</code>
          </div>
        ))}
      </dd>
      {balanceBelow !== null && (
        <>
          <dt>{t.webhooks.below}</dt>
          <dd>{formatCredits(balanceBelow)}</dd>
        </>
      )}
      <dt>{t.webhooks.lastSuccess}</dt>
      <dd>{lastSuccessAt ? <Age at={lastSuccessAt} /> : t.webhooks.never}</dd>
      <dt>{t.webhooks.created}</dt>
      <dd>
        <Moment at={createdAt} />
      </dd>
    </dl>
  );
}
