// Calls: the chat calls of the user's keys, with tokens, charge and its basis, time and error.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import { beginOf, useFilters } from '../../data/filters.ts';
import { firstLook } from '../../data/first-look.ts';
import { useStore } from '../../data/store.ts';
import { useKeys, useModels } from '../../data/queries.ts';
import type { Call } from '../../data/types.ts';
import { sentenceOf } from '../../texts/index.ts';
import { t } from '../../texts/pages.ts';
import { Button, ButtonLink } from '../../ui/controls.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { formatCount, formatCredits, formatDuration } from '../../ui/format.ts';
import { CardLabel, CardTable, Listed } from '../../ui/list.tsx';
import { Copy, Empty, Head } from '../../ui/parts.tsx';
import { PeriodFilter } from '../../ui/range-tag.tsx';
import { Age } from '../../ui/times.tsx';
import { to } from '../../data/addresses.ts';

const ROWS = 50;
const COLUMNS = 7;
const STATUSES = ['completed', 'failed', 'cancelled'];

export default function Calls() {
  const [filters] = useFilters();
  const { model, keyId, status, period, to: end } = filters;
  const from = filters['from'] ?? (period && beginOf(period));
  const list = useInfiniteQuery({
    queryKey: ['money', 'calls', model, keyId, status, from, end],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/usage', {
        signal,
        query: {
          limit: String(ROWS),
          ...(cursor && { cursor }),
          model,
          keyId,
          ...(from && { from }),
          ...(end && { to: end }),
          status: status as Call['status'] | undefined,
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const calls = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFiltered = Boolean(model || keyId || status || from);
  return (
    <>
      <Head title={t.pages.calls} note={t.calls.note}>
        <Button icon="download" disabled={calls.length === 0} onClick={() => saveCsv(calls)}>
          {t.csv}
        </Button>
      </Head>
      <Filters />
      <Listed
        list={list}
        isEmpty={calls.length === 0}
        empty={
          <Empty
            icon="calls"
            title={isFiltered ? t.calls.nothingFits : t.calls.empty}
            {...(!isFiltered && { note: t.calls.emptyNote })}
          >
            {isFiltered ? (
              <ButtonLink href={to('calls')}>{t.tasks.clear}</ButtonLink>
            ) : (
              <ButtonLink href={to('keys')}>{t.makeKey}</ButtonLink>
            )}
          </Empty>
        }
      >
        <Table calls={calls} isLoading={list.isPending} />
      </Listed>
    </>
  );
}

function Filters() {
  const isLooking = useStore(firstLook);
  const models = (useModels(isLooking).data ?? []).filter(({ kind }) => kind === 'text');
  const keys = useKeys(isLooking).data ?? [];
  return (
    <div class="filters" role="search">
      <FilterSelect
        name="status"
        label={t.calls.status}
        any={t.calls.anyStatus}
        options={STATUSES.map((value) => [value, t.calls.statuses[value] ?? value])}
      />
      <FilterSelect
        name="model"
        label={t.tasks.model}
        any={t.tasks.anyModel}
        options={models.map(({ id }) => [id, id])}
      />
      <FilterSelect
        name="keyId"
        label={t.tasks.key}
        any={t.tasks.anyKey}
        options={keys.map(({ id, name }) => [id, name])}
      />
      <PeriodFilter />
    </div>
  );
}

function Table({ calls, isLoading }: { calls: readonly Call[]; isLoading: boolean }) {
  return (
    <CardTable
      label={t.pages.calls}
      columns={COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.calls.model}</th>
          <th class="tiny">{t.calls.status}</th>
          <th class="number tiny">{t.calls.tokens}</th>
          <th class="number tiny">{t.calls.credits}</th>
          <th class="number tiny">{t.calls.latency}</th>
          <th>{t.calls.request}</th>
          <th class="number tiny">{t.calls.time}</th>
        </>
      }
    >
      {calls.map((one) => (
        <Row key={one.id} one={one} />
      ))}
    </CardTable>
  );
}

function Row({ one }: { one: Call }) {
  const { errorCode, errorMessage } = one;
  return (
    <tr>
      <td class="stretch">
        <div class="cut">
          <span class="strong">{one.model}</span> {one.stream && <span class="tag">{t.calls.stream}</span>}
        </div>
        {errorCode && (
          <div class="small bad cut" title={errorMessage ?? ''}>
            {sentenceOf({ code: errorCode, message: errorMessage ?? errorCode })}
          </div>
        )}
      </td>
      <td class="tiny phone-end">
        <span class={`status ${one.status}`}>{t.calls.statuses[one.status] ?? one.status}</span>
      </td>
      <td class="number tiny phone-start">
        <CardLabel text={t.calls.tokens} />
        {formatCount(one.promptTokens)} / {formatCount(one.completionTokens)}
      </td>
      <td class="number tiny" title={t.calls.bases[one.billingBasis]}>
        {formatCredits(one.creditsCharged)}
        {one.billingBasis === 'estimated' && <div class="small faint">{t.calls.bases['estimated']}</div>}
      </td>
      <td class="number tiny phone-start">
        <CardLabel text={t.calls.latency} />
        {formatDuration(one.latencyMs)}
      </td>
      <td class="call-request phone-hidden">
        <Copy text={one.requestId} />
      </td>
      <td class="number tiny faint">
        <Age at={one.createdAt} />
      </td>
    </tr>
  );
}

function saveCsv(calls: readonly Call[]): void {
  const columns = [
    'id',
    'createdAt',
    'model',
    'keyId',
    'status',
    'stream',
    'promptTokens',
    'completionTokens',
    'creditsCharged',
    'billingBasis',
    'latencyMs',
    'errorCode',
    'requestId',
  ] as const;
  downloadCsv(
    'calls.csv',
    columns,
    calls.map((one) => columns.map((name) => one[name])),
  );
}
