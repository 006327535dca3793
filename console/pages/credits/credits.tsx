// Credits: what is there, the ledger as a statement, and redeeming a code.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import { useBalance } from '../../data/queries.ts';
import type { LedgerEntry } from '../../data/types.ts';
import { t } from '../../texts/index.ts';
import { Button } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { BoneRows, More } from '../../ui/list.tsx';
import { Bone, Card, Empty, Figure, Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Moment } from '../../ui/times.tsx';
import { Redeem } from './redeem.tsx';

const ROWS = '50';
const COLUMNS = 4;

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
      <Problem error={statement.error} onRetry={() => void statement.refetch()} />
      <section class="stack tight">
        <h2>{t.credits.statement}</h2>
        {!statement.isPending && entries.length === 0 ? (
          <Card>
            <Empty icon="credits" title={t.credits.empty} note={t.credits.emptyNote} />
          </Card>
        ) : (
          <div class="table-card">
            <Statement entries={entries} isLoading={statement.isPending} />
            {!statement.isPending && <More pages={statement} />}
          </div>
        )}
      </section>
    </>
  );
}

function Figures() {
  const balance = useBalance().data;
  const credits = (amount: number | undefined) =>
    amount === undefined ? <Bone width="90px" /> : formatCredits(amount);
  const usd =
    balance &&
    new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 }).format(
      balance.balanceUsd,
    );
  return (
    <dl class="figures">
      <Figure name={t.available}>{credits(balance?.available)}</Figure>
      <Figure name={t.home.reserved} hint={t.home.reservedHint}>
        {credits(balance?.reserved)}
      </Figure>
      <Figure name={t.credits.balance} hint={usd && t.credits.usd(usd)}>
        {credits(balance?.balance)}
      </Figure>
      <Figure name={t.credits.charged}>{credits(balance?.totalCharged)}</Figure>
    </dl>
  );
}

function Statement({ entries, isLoading }: { entries: readonly LedgerEntry[]; isLoading: boolean }) {
  return (
    <div class="table-scroll">
      <table class="table dense cards" aria-busy={isLoading}>
        <thead>
          <tr>
            <th>{t.credits.what}</th>
            <th class="tiny">{t.credits.time}</th>
            <th class="number">{t.credits.amount}</th>
            <th class="number">{t.credits.after}</th>
          </tr>
        </thead>
        <tbody>
          {isLoading && <BoneRows columns={COLUMNS} />}
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <What entry={entry} />
              </td>
              <td class="tiny faint phone-hidden">
                <Moment at={entry.createdAt} />
              </td>
              <td class={entry.amount > 0 ? 'number good strong' : 'number'}>
                {entry.amount > 0 ? '+' : '−'}
                {formatCredits(Math.abs(entry.amount))}
              </td>
              <td class="number soft phone-hidden">{formatCredits(entry.balanceAfter)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The kind of the move, linked to what caused it. */
function What({ entry }: { entry: LedgerEntry }) {
  const name = t.credits.types[entry.type] ?? entry.type;
  const cause = entry.model ?? entry.description;
  return (
    <div>
      {entry.taskId ? (
        <a class="main-link" href={to(`tasks/${entry.taskId}`)}>
          {name}
        </a>
      ) : (
        <span class="strong">{name}</span>
      )}
      <div class="small faint cut">{cause}</div>
    </div>
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
