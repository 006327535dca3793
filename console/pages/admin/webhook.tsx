// Administration: one webhook of any user, and what was or is to be delivered to it.
import { useQuery } from '@tanstack/preact-query';
import { useRoute } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import type { ForeignWebhook } from '../../data/types.ts';
import { useForeignDeliveries } from '../../data/webhooks.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { formatCount, formatMoment } from '../../ui/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { Listed } from '../../ui/list.tsx';
import { Card, Copy, Empty, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age, Moment } from '../../ui/times.tsx';
import { DeliveryDetails } from '../webhooks/delivery-details.tsx';
import { DeliveryTable } from '../webhooks/delivery-table.tsx';
import { WebhookState } from '../webhooks/state.tsx';

/** More than a user may have. */
const OF_USER = '100';

export default function AdminWebhook() {
  const id = useRoute().params['id'] ?? '';
  const [{ userId, delivery }, change] = useFilters();
  const owned = useOwned(userId);
  const list = useForeignDeliveries(id);
  const sent = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const shown = sent.find((one) => one.id === delivery);
  const webhook = owned.data?.find((one) => one.id === id);
  if (list.error instanceof ApiError && [400, 404].includes(list.error.status))
    return (
      <Empty isPage icon="search" title={t.webhooks.missing}>
        <ButtonLink href={to('admin/webhooks')}>{t.webhooks.back}</ButtonLink>
      </Empty>
    );
  return (
    <>
      <div class="stack tight">
        <a class="row note soft back" href={to('admin/webhooks')}>
          <Icon name="back" size={14} />
          {t.webhooks.back}
        </a>
        <Head
          title={<span class="title-prompt">{webhook?.origin ?? id}</span>}
          name={t.pages.adminWebhooks}
        />
        <div class="row wide wrap note soft">
          {webhook && <WebhookState webhook={webhook} />}
          <Copy text={id} />
        </div>
      </div>
      {webhook && <WhyNothing webhook={webhook} />}
      <Problem error={owned.error} onRetry={() => void owned.refetch()} />
      <div class="columns">
        <section class="stack tight">
          <h2>{t.webhooks.deliveries}</h2>
          <Listed
            list={list}
            isEmpty={sent.length === 0}
            isPart
            empty={<Empty icon="webhooks" title={t.webhooks.noDeliveries} />}
          >
            <DeliveryTable
              deliveries={sent}
              isLoading={list.isPending}
              onOpen={(chosen) => change({ delivery: chosen })}
              onResend={null}
            />
          </Listed>
        </section>
        {userId && <Card title={t.task.details}>{webhook ? <Facts webhook={webhook} /> : <Skeleton />}</Card>}
      </div>
      {shown && <DeliveryDetails delivery={shown} onClose={() => change({ delivery: '' })} />}
    </>
  );
}

/** The endpoints of the user: one of them is the one that is shown. */
function useOwned(userId: string | undefined) {
  return useQuery({
    queryKey: ['admin', 'webhooks', 'of', userId],
    enabled: Boolean(userId),
    queryFn: async ({ signal }) =>
      (await call('GET /api/admin/webhooks', { signal, query: { limit: OF_USER, userId } })).data,
  });
}

/** Why nothing is sent to it, or nothing arrives. */
function WhyNothing({ webhook: { disabledReason, failingSince } }: { webhook: ForeignWebhook }) {
  if (disabledReason)
    return (
      <Notice look="warn">
        {disabledReason === 'owner' ? t.admin.disabledByOwner : t.webhooks.why[disabledReason]}
      </Notice>
    );
  if (failingSince) return <Notice look="warn">{t.webhooks.failingNote(formatMoment(failingSince))}</Notice>;
  return null;
}

function Facts({ webhook }: { webhook: ForeignWebhook }) {
  const { userId, events, pending, lastSuccessAt, createdAt } = webhook;
  return (
    <dl class="facts">
      <dt>{t.admin.user}</dt>
      <dd>
        <a class="link mono" href={to(`admin/users/${userId}`)}>
          {userId}
        </a>
      </dd>
      <dt>{t.webhooks.events}</dt>
      <dd>
        {events.map((event) => (
          <div key={event}>
            <code>{event}</code>
          </div>
        ))}
      </dd>
      <dt>{t.admin.pendingFirst}</dt>
      <dd>{formatCount(pending.first)}</dd>
      <dt>{t.admin.pendingAgain}</dt>
      <dd>{formatCount(pending.again)}</dd>
      <dt>{t.admin.pendingSince}</dt>
      <dd>
        <Age at={pending.oldestAt} />
      </dd>
      <dt>{t.webhooks.lastSuccess}</dt>
      <dd>{lastSuccessAt ? <Age at={lastSuccessAt} /> : t.webhooks.never}</dd>
      <dt>{t.webhooks.created}</dt>
      <dd>
        <Moment at={createdAt} />
      </dd>
    </dl>
  );
}
