// Keys: what each may spend and has spent, making, changing and revoking them.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { useKeys } from '../../data/queries.ts';
import type { Key } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { formatCredits } from '../../ui/format.ts';
import { CardTable, CardLabel } from '../../ui/list.tsx';
import { Card, Copy, Empty, Head, Meter } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age, Moment } from '../../ui/times.tsx';
import { KeyForm } from './key-form.tsx';

const COLUMNS = 6;
type Open = { kind: 'make' } | { kind: 'change' | 'revoke'; key: Key } | null;

export default function Keys() {
  const { query } = useLocation();
  const [open, setOpen] = useState<Open>(query['make'] ? { kind: 'make' } : null);
  const [showsRevoked, setShowsRevoked] = useState(false);
  const keys = useKeys();
  const all = keys.data ?? [];
  const shown = all.filter(({ revokedAt }) => showsRevoked || revokedAt === null);
  const close = (): void => setOpen(null);
  return (
    <>
      <Head title={t.pages.keys} note={t.keys.note}>
        <Button look="primary" icon="plus" onClick={() => setOpen({ kind: 'make' })}>
          {t.makeKey}
        </Button>
      </Head>
      <Problem error={keys.error} onRetry={() => void keys.refetch()} />
      {!keys.isPending && all.length === 0 ? (
        <Card>
          <Empty icon="keys" title={t.keys.empty} note={t.keys.emptyNote}>
            <Button look="primary" icon="plus" onClick={() => setOpen({ kind: 'make' })}>
              {t.makeKey}
            </Button>
          </Empty>
        </Card>
      ) : (
        <div class="table-card">
          <Table keys={shown} isLoading={keys.isPending} onOpen={setOpen} />
        </div>
      )}
      {all.some(({ revokedAt }) => revokedAt) && (
        <label class="check note soft">
          <input type="checkbox" checked={showsRevoked} onChange={() => setShowsRevoked(!showsRevoked)} />
          {t.keys.showRevoked}
        </label>
      )}
      {open?.kind === 'make' && <KeyForm onClose={close} />}
      {open?.kind === 'change' && <KeyForm entry={open.key} onClose={close} />}
      {open?.kind === 'revoke' && <Revoke entry={open.key} onClose={close} />}
    </>
  );
}

function Table({
  keys,
  isLoading,
  onOpen,
}: {
  keys: readonly Key[];
  isLoading: boolean;
  onOpen: (open: Open) => void;
}) {
  return (
    <CardTable
      label={t.pages.keys}
      columns={COLUMNS}
      isLoading={isLoading}
      bones={3}
      isTall
      heads={
        <>
          <th>{t.keys.name}</th>
          <th>{t.keys.used}</th>
          <th>{t.keys.budget}</th>
          <th class="tablet-hidden">{t.keys.scope}</th>
          <th class="tiny tablet-hidden">{t.keys.lastUsed}</th>
          <th class="tiny">
            <span class="unseen">{t.keys.change}</span>
          </th>
        </>
      }
    >
      {keys.map((key) => (
        <Row key={key.id} entry={key} onOpen={onOpen} />
      ))}
    </CardTable>
  );
}

function Row({ entry, onOpen }: { entry: Key; onOpen: (open: Open) => void }) {
  const isOver = entry.revokedAt !== null;
  return (
    <tr>
      <td class="phone-wide">
        <span class="strong">{entry.name}</span> <State entry={entry} />
        <div class="small faint row">
          <Copy text={entry.id}>{entry.prefix}…</Copy>
        </div>
      </td>
      <td>
        <CardLabel text={t.keys.used} />
        <Spent label={t.keys.quota} used={entry.used} max={entry.quota} />
      </td>
      <td class="phone-hidden">
        {entry.dailyBudget === null ? (
          <span class="faint">{t.unlimited}</span>
        ) : (
          <Spent label={t.keys.budget} used={entry.usedToday} max={entry.dailyBudget} />
        )}
      </td>
      <td class="phone-hidden tablet-hidden soft" title={entry.modelScope?.join('\n')}>
        {entry.modelScope === null ? t.all : t.keys.models(entry.modelScope.length)}
      </td>
      <td class="tiny faint phone-hidden tablet-hidden">
        {entry.lastUsedAt ? <Age at={entry.lastUsedAt} /> : t.keys.never}
      </td>
      <td class="tiny phone-wide">
        <span class="row end">
          <a class="button small quiet" href={to('tasks', { keyId: entry.id })}>
            {t.keys.tasks}
          </a>
          {!isOver && (
            <>
              <Button
                isSmall
                look="quiet"
                aria-label={`${t.keys.change}: ${entry.name}`}
                onClick={() => onOpen({ kind: 'change', key: entry })}
              >
                {t.keys.change}
              </Button>
              <Button
                isSmall
                look="quiet"
                aria-label={`${t.keys.revoke}: ${entry.name}`}
                onClick={() => onOpen({ kind: 'revoke', key: entry })}
              >
                {t.keys.revoke}
              </Button>
            </>
          )}
        </span>
      </td>
    </tr>
  );
}

function State({ entry }: { entry: Key }) {
  if (entry.revokedAt !== null) return <span class="tag bad">{t.keys.ended}</span>;
  if (entry.expiresAt === null) return null;
  if (Date.parse(entry.expiresAt) < Date.now()) return <span class="tag warn">{t.keys.expired}</span>;
  return (
    <span class="tag">
      {t.keys.expires} <Moment at={entry.expiresAt} />
    </span>
  );
}

/** What was spent of a limit, as figures and as a bar. */
function Spent({ label, used, max }: { label: string; used: number | undefined; max: number | null }) {
  if (max === null) return <>{formatCredits(used)}</>;
  return (
    <span class="stack" style={{ gap: '5px', minWidth: '90px' }}>
      <span>{t.keys.of(formatCredits(used), formatCredits(max))}</span>
      <Meter value={used ?? 0} max={max} label={label} />
    </span>
  );
}

function Revoke({ entry, onClose }: { entry: Key; onClose: () => void }) {
  const queries = useQueryClient();
  const revoke = useAction({
    mutationFn: () => call('DELETE /api/keys/:id', { params: { id: entry.id } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['keys'] });
      onClose();
    },
  });
  return (
    <Confirm
      title={t.keys.revokeTitle(entry.name)}
      note={t.keys.revokeNote}
      action={t.keys.revoke}
      isDangerous
      run={revoke}
      onClose={onClose}
    />
  );
}
