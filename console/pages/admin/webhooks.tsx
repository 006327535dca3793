// Administration: the webhooks of all users, whether each works, and what is still to be delivered to it.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import type { ForeignWebhook } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { formatCount } from '../../ui/format.ts';
import { CardLabel, CardTable, Listed } from '../../ui/list.tsx';
import { Empty, Head } from '../../ui/parts.tsx';
import { Age } from '../../ui/times.tsx';
import { WebhookState } from '../webhooks/state.tsx';
import { UserFilter } from './user-filter.tsx';

const ROWS = '50';
const COLUMNS = 6;

export default function AdminWebhooks() {
  const [{ userId, status }, change] = useFilters();
  const list = useInfiniteQuery({
    queryKey: ['admin', 'webhooks', userId, status],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/webhooks', {
        signal,
        query: {
          limit: ROWS,
          ...(cursor && { cursor }),
          userId,
          status: status as 'working' | 'failing' | 'disabled' | undefined,
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const webhooks = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Head title={t.pages.adminWebhooks} note={t.admin.webhooksNote} />
      <div class="filters" role="search">
        <UserFilter name="userId" label={t.admin.userId} />
        <FilterSelect
          name="status"
          label={t.webhooks.state}
          any={t.tasks.anyStatus}
          options={[
            ['working', t.webhooks.enabled],
            ['failing', t.webhooks.failing],
            ['disabled', t.webhooks.disabled],
          ]}
        />
      </div>
      <Listed
        list={list}
        isEmpty={webhooks.length === 0}
        empty={
          userId || status ? (
            <Empty icon="search" title={t.admin.noWebhookFits}>
              <Button onClick={() => change({ userId: '', status: '' })}>{t.tasks.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="webhooks" title={t.webhooks.empty} note={t.admin.noWebhooksNote} />
          )
        }
      >
        <Table webhooks={webhooks} isLoading={list.isPending} />
      </Listed>
    </>
  );
}

function Table({ webhooks, isLoading }: { webhooks: readonly ForeignWebhook[]; isLoading: boolean }) {
  return (
    <CardTable
      label={t.pages.adminWebhooks}
      columns={COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.webhooks.url}</th>
          <th>{t.admin.user}</th>
          <th>{t.webhooks.state}</th>
          <th class="number">{t.admin.pending}</th>
          <th class="number">{t.admin.pendingSince}</th>
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

function Row({ webhook }: { webhook: ForeignWebhook }) {
  const { id, userId, origin, pending, lastSuccessAt } = webhook;
  return (
    <tr>
      <td class="phone-wide stretch">
        <a class="main-link cut" href={to(`admin/webhooks/${id}`, { userId })}>
          {origin}
        </a>
      </td>
      <td class="tiny phone-hidden">
        <a class="above mono small link" href={to(`admin/users/${userId}`)} title={userId}>
          {`${userId.slice(0, 4)}…${userId.slice(-6)}`}
        </a>
      </td>
      <td class="tiny">
        <WebhookState webhook={webhook} />
      </td>
      <td class="number tiny">
        <CardLabel text={t.admin.pending} />
        {formatCount(pending.first + pending.again)}
      </td>
      <td class="number tiny faint phone-hidden">
        <Age at={pending.oldestAt} />
      </td>
      <td class="number tiny faint phone-start phone-wide">
        <CardLabel text={t.webhooks.lastSuccess} />
        {lastSuccessAt ? <Age at={lastSuccessAt} /> : t.webhooks.never}
      </td>
    </tr>
  );
}
