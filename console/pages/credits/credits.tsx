// Credits: what is there, the ledger as a statement, and redeeming a code.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import { useBalance } from '../../data/queries.ts';
import type { LedgerEntry } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { Listed } from '../../ui/list.tsx';
import { Amount, Empty, Figure, Head } from '../../ui/parts.tsx';
import { Redeem } from './redeem.tsx';
import { Statement } from './statement.tsx';

const ROWS = '50';

export default function Credits() {
  const statement = useInfiniteQuery({
    queryKey: ['money', 'ledger'],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, pageParam: cursor }) =>
      (
        await call('GET /api/balance', {
          signal,
          query: { includeLedger: '1', limit: ROWS, ...(cursor && { cursor }) },
        })
      ).data,
    getNextPageParam: ({ ledgerNextCursor }) => ledgerNextCursor ?? undefined,
  });
  const entries = statement.data?.pages.flatMap(({ ledger }) => ledger ?? []) ?? [];
  return (
    <>
      <Head title={t.pages.credits} note={t.credits.note}>
        <Button icon="download" disabled={entries.length === 0} onClick={() => saveCsv(entries)}>
          {t.csv}
        </Button>
      </Head>
      <Figures />
      <Redeem />
      <section class="stack tight">
        <h2>{t.credits.statement}</h2>
        <Listed
          list={statement}
          isEmpty={entries.length === 0}
          empty={<Empty icon="credits" title={t.credits.empty} note={t.credits.emptyNote} />}
        >
          <Statement entries={entries} isLoading={statement.isPending} />
        </Listed>
      </section>
    </>
  );
}

function Figures() {
  const { data: balance, isError } = useBalance();
  const unread = isError ? null : undefined;
  const usd =
    balance &&
    new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 }).format(
      balance.balanceUsd,
    );
  return (
    <dl class="figures">
      <Figure name={t.available}>
        <Amount credits={balance?.available ?? unread} />
      </Figure>
      <Figure name={t.home.reserved} hint={t.home.reservedHint}>
        <Amount credits={balance?.reserved ?? unread} />
      </Figure>
      <Figure name={t.credits.balance} hint={usd && t.credits.usd(usd)}>
        <Amount credits={balance?.balance ?? unread} />
      </Figure>
      <Figure name={t.credits.charged}>
        <Amount credits={balance?.totalCharged ?? unread} />
      </Figure>
    </dl>
  );
}

function saveCsv(entries: readonly LedgerEntry[]): void {
  const columns = [
    'id',
    'createdAt',
    'type',
    'amount',
    'balanceAfter',
    'model',
    'taskId',
    'requestId',
    'keyId',
    'description',
  ] as const;
  downloadCsv(
    'statement.csv',
    columns,
    entries.map((entry) => columns.map((name) => entry[name])),
  );
}
