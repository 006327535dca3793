// The ledger of an account as a statement: each move, what caused it, and the balance after it.
import { to } from '../../data/addresses.ts';
import { useAbout } from '../../data/queries.ts';
import type { LedgerEntry } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { formatCredits } from '../../ui/format.ts';
import { CardTable } from '../../ui/list.tsx';
import { Moment } from '../../ui/times.tsx';

const COLUMNS = 4;
/** Between a call's row and its first upstream, and between its end and its charge. */
const CALL_MARGIN_SECONDS = 60;

interface StatementProps {
  entries: readonly LedgerEntry[];
  isLoading: boolean;
  /** The page of tasks that entries lead to. */
  tasks?: 'tasks' | 'admin/tasks';
}

export function Statement({ entries, isLoading, tasks = 'tasks' }: StatementProps) {
  const callSecondsMax = useAbout(false).data?.callSecondsMax;
  return (
    <CardTable
      label={t.credits.statement}
      columns={COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.credits.what}</th>
          <th class="tiny">{t.credits.time}</th>
          <th class="number">{t.credits.amount}</th>
          <th class="number">{t.credits.after}</th>
        </>
      }
    >
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td>
            <What entry={entry} tasks={tasks} callSecondsMax={callSecondsMax} />
          </td>
          <td class="tiny faint phone-below">
            <Moment at={entry.createdAt} />
          </td>
          <td class={entry.amount > 0 ? 'number good strong' : 'number'}>
            {entry.amount > 0 ? '+' : '−'}
            {formatCredits(Math.abs(entry.amount))}
          </td>
          <td class="number soft phone-below">{formatCredits(entry.balanceAfter)}</td>
        </tr>
      ))}
    </CardTable>
  );
}

/** The kind of the move, linked to what caused it. */
function What({
  entry,
  tasks,
  callSecondsMax,
}: {
  entry: LedgerEntry;
  tasks: string;
  callSecondsMax: number | undefined;
}) {
  const name = t.credits.types[entry.type] ?? entry.type;
  const cause = entry.type === 'refund' ? entry.description : (entry.model ?? entry.description);
  const href = entry.taskId
    ? to(`${tasks}/${entry.taskId}`)
    : tasks === 'tasks' && callSecondsMax && callsBehind(entry, callSecondsMax);
  return (
    <div>
      {href ? (
        <a class="main-link" href={href}>
          {name}
        </a>
      ) : (
        <span>{name}</span>
      )}
      <div class="small faint cut">{cause}</div>
    </div>
  );
}

/** The calls of the same key and model that may have been charged with it: those that were begun before it. */
function callsBehind(
  { type, requestId, keyId, model, createdAt }: LedgerEntry,
  callSecondsMax: number,
): string | null {
  if (type !== 'charge' || !requestId || !keyId || !model) return null;
  const at = Date.parse(createdAt);
  const from = new Date(at - (callSecondsMax + CALL_MARGIN_SECONDS) * 1_000).toISOString();
  return to('calls', { model, keyId, from, to: new Date(at + 1).toISOString() });
}
