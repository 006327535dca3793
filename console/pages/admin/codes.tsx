// Administration: redeem codes, and making many of them at once.
import { useAction } from '../../data/action.ts';
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import { useMe } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';
import type { RedeemCode } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { FilterBox } from '../../ui/filter-box.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { formatCount, formatCredits } from '../../ui/format.ts';
import { CardLabel, CardTable, Listed } from '../../ui/list.tsx';
import { Empty, Head, Meter } from '../../ui/parts.tsx';
import { Age, Moment } from '../../ui/times.tsx';
import { CodeDetails } from './code-details.tsx';
import { MakeCodes } from './make-codes.tsx';

const ROWS = '50';
const COLUMNS = 7;
const TAGS: Readonly<Record<RedeemCode['status'], string>> = {
  active: 'good',
  disabled: 'bad',
  expired: 'warn',
  exhausted: '',
};

export default function AdminCodes() {
  const [isMaking, setMaking] = useState(false);
  const [disabling, setDisabling] = useState<RedeemCode | null>(null);
  const [filters, change] = useFilters();
  const { status, label, id } = filters;
  const me = useMe().data;
  const mayWrite = me ? hasPermission(me, 'redemption.sensitive_write') : false;
  const list = useInfiniteQuery({
    queryKey: ['admin', 'codes', status, label],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/redeem-codes', {
        signal,
        query: {
          limit: ROWS,
          ...(cursor && { cursor }),
          status: status as RedeemCode['status'] | undefined,
          label,
        },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const codes = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Head title={t.pages.adminCodes} note={t.admin.codesNote}>
        {mayWrite && (
          <Button look="primary" icon="plus" onClick={() => setMaking(true)}>
            {t.admin.makeCodes}
          </Button>
        )}
      </Head>
      <Filters filters={filters} change={change} />
      <Listed
        list={list}
        isEmpty={codes.length === 0}
        empty={
          status || label ? (
            <Empty icon="search" title={t.admin.noCodeFits}>
              <Button onClick={() => change({ status: '', label: '' })}>{t.tasks.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="codes" title={t.admin.noCodes} note={t.admin.noCodesNote}>
              {mayWrite && (
                <Button look="primary" icon="plus" onClick={() => setMaking(true)}>
                  {t.admin.makeCodes}
                </Button>
              )}
            </Empty>
          )
        }
      >
        <Table
          codes={codes}
          isLoading={list.isPending}
          onOpen={(code) => change({ id: code.id })}
          onDisable={mayWrite ? setDisabling : null}
        />
      </Listed>
      {isMaking && <MakeCodes onClose={() => setMaking(false)} />}
      {id && <CodeDetails id={id} onClose={() => change({ id: '' })} />}
      {disabling && <Disable code={disabling} onClose={() => setDisabling(null)} />}
    </>
  );
}

interface FiltersProps {
  filters: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string>>) => void;
}

function Filters({ filters: { label }, change }: FiltersProps) {
  return (
    <div class="filters" role="search">
      <FilterBox
        isMain
        label={t.admin.wholeLabel}
        value={label ?? ''}
        onValue={(value) => change({ label: value })}
      />
      <FilterSelect
        name="status"
        label={t.admin.status}
        any={t.tasks.anyStatus}
        options={Object.entries(t.admin.codeStatuses)}
      />
    </div>
  );
}

function Table({
  codes,
  isLoading,
  onOpen,
  onDisable,
}: {
  codes: readonly RedeemCode[];
  isLoading: boolean;
  onOpen: (code: RedeemCode) => void;
  onDisable: ((code: RedeemCode) => void) | null;
}) {
  return (
    <CardTable
      label={t.pages.adminCodes}
      columns={COLUMNS}
      isLoading={isLoading}
      heads={
        <>
          <th>{t.admin.label}</th>
          <th>{t.admin.status}</th>
          <th class="number">{t.admin.creditsEach}</th>
          <th>{t.admin.uses}</th>
          <th>{t.admin.expires}</th>
          <th class="number">{t.tasks.age}</th>
          <th class="tiny">
            <span class="unseen">{t.admin.disable}</span>
          </th>
        </>
      }
    >
      {codes.map((code) => (
        <tr key={code.id}>
          <td class="phone-wide stretch">
            <button type="button" class="main-link as-link cut" onClick={() => onOpen(code)}>
              {code.label}
            </button>
            <div class="mono small faint">…{code.codeHint}</div>
          </td>
          <td>
            <span class={`tag ${TAGS[code.status]}`}>{t.admin.codeStatuses[code.status]}</span>
          </td>
          <td class="number">
            <CardLabel text={t.admin.creditsEach} />
            {formatCredits(code.credits)}
          </td>
          <td class="phone-wide">
            <span class="stack" style={{ gap: '4px', minWidth: '80px' }}>
              <span>
                <CardLabel text={t.admin.uses} />
                {t.keys.of(formatCount(code.usedCount), formatCount(code.maxUses))}
              </span>
              <Meter value={code.usedCount} max={code.maxUses} label={t.admin.uses} />
            </span>
          </td>
          <td class={code.expiresAt ? 'soft small phone-wide' : 'soft phone-hidden'}>
            <CardLabel text={t.admin.expires} />
            <Moment at={code.expiresAt} />
          </td>
          <td class="number faint tiny phone-start">
            <Age at={code.createdAt} />
          </td>
          <td class="tiny phone-end">
            {onDisable && code.disabledAt === null && (
              <Button
                isSmall
                look="quiet"
                class="above"
                aria-label={`${t.admin.disable}: ${code.label} …${code.codeHint}`}
                onClick={() => onDisable(code)}
              >
                {t.admin.disable}
              </Button>
            )}
          </td>
        </tr>
      ))}
    </CardTable>
  );
}

function Disable({ code, onClose }: { code: RedeemCode; onClose: () => void }) {
  const queries = useQueryClient();
  const disable = useAction({
    mutationFn: () => call('PATCH /api/admin/redeem-codes/:id', { params: { id: code.id } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['admin', 'codes'] });
      onClose();
    },
  });
  return (
    <Confirm
      title={t.admin.disableCode}
      note={t.admin.disableCodeNote}
      action={t.admin.disable}
      isDangerous
      run={disable}
      onClose={onClose}
    />
  );
}
