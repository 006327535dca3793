// Administration: users, found by e-mail address, with what may be changed about each.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { useFilters } from '../../data/filters.ts';
import { useMe } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';
import type { ShownUser } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { FilterBox } from '../../ui/filter-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { CardTable, CardLabel, Listed } from '../../ui/list.tsx';
import { Copy, Empty, Head } from '../../ui/parts.tsx';
import { Age } from '../../ui/times.tsx';
import { ChangeUser, Grant, MakeUser } from './user-forms.tsx';

type Open = { kind: 'make' } | { kind: 'change' | 'grant'; user: ShownUser } | null;

const ROWS = '50';
const COLUMNS = 6;

export default function AdminUsers() {
  const [filters, change] = useFilters();
  const [open, setOpen] = useState<Open>(null);
  const me = useMe().data;
  const wanted = (filters['q'] ?? '').trim();
  const list = useInfiniteQuery({
    queryKey: ['admin', 'users', wanted],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam: cursor }) =>
      call('GET /api/admin/users', {
        signal,
        query: { limit: ROWS, ...(cursor && { cursor }), ...(wanted && { q: wanted }) },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const users = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const mayWrite = me ? hasPermission(me, 'users.write') : false;
  return (
    <>
      <Head title={t.pages.adminUsers} note={t.admin.usersNote}>
        {mayWrite && (
          <Button look="primary" icon="plus" onClick={() => setOpen({ kind: 'make' })}>
            {t.admin.makeUser}
          </Button>
        )}
      </Head>
      <div class="filters" role="search">
        <FilterBox isMain label={t.admin.findUser} value={wanted} onValue={(q) => change({ q })} />
      </div>
      <Listed
        list={list}
        isEmpty={users.length === 0}
        empty={
          <Empty icon="users" title={t.admin.noUsers} note={t.admin.noUsersNote}>
            <Button onClick={() => change({ q: '' })}>{t.tasks.clear}</Button>
          </Empty>
        }
      >
        <Table
          users={users}
          isLoading={list.isPending}
          onOpen={setOpen}
          mayWrite={mayWrite}
          mayGrant={me ? hasPermission(me, 'credits.grant') : false}
        />
      </Listed>
      {open?.kind === 'make' && <MakeUser onClose={() => setOpen(null)} />}
      {open?.kind === 'change' && <ChangeUser user={open.user} onClose={() => setOpen(null)} />}
      {open?.kind === 'grant' && <Grant user={open.user} onClose={() => setOpen(null)} />}
    </>
  );
}

interface TableProps {
  users: readonly ShownUser[];
  isLoading: boolean;
  onOpen: (open: Open) => void;
  mayWrite: boolean;
  mayGrant: boolean;
}

function Table({ users, isLoading, onOpen, mayWrite, mayGrant }: TableProps) {
  return (
    <CardTable
      label={t.pages.adminUsers}
      columns={COLUMNS}
      isLoading={isLoading}
      isTall
      heads={
        <>
          <th>{t.admin.user}</th>
          <th>{t.admin.permissions}</th>
          <th class="tablet-hidden">{t.admin.factor}</th>
          <th class="number">{t.admin.balance}</th>
          <th class="number">{t.admin.lastSeen}</th>
          <th class="tiny">
            <span class="unseen">{t.admin.change}</span>
          </th>
        </>
      }
    >
      {users.map((user) => (
        <Row key={user.id} user={user} onOpen={onOpen} mayWrite={mayWrite} mayGrant={mayGrant} />
      ))}
    </CardTable>
  );
}

interface RowProps extends Omit<TableProps, 'users' | 'isLoading'> {
  user: ShownUser;
}

function Row({ user, onOpen, mayWrite, mayGrant }: RowProps) {
  return (
    <tr>
      <td class="phone-wide stretch">
        <a class="main-link cut" href={to(`admin/users/${user.id}`)}>
          {user.email}
        </a>{' '}
        {user.disabled && <span class="tag bad">{t.admin.disabled}</span>}{' '}
        {user.frozen && <span class="tag warn">{t.admin.frozen}</span>}
        <div class="small faint">
          <Copy text={user.id} />
        </div>
      </td>
      <td class="soft phone-hidden" title={user.permissions.join('\n')}>
        {user.permissions.length === 0 ? '–' : user.permissions.length}
      </td>
      <td class="phone-hidden tablet-hidden">
        {user.twoFactorEnabled ? (
          <Icon name="check" aria-label={t.account.factorOn} />
        ) : (
          <span class="faint">–</span>
        )}
      </td>
      <td class="number phone-start">
        <CardLabel text={t.admin.balance} />
        {formatCredits(user.balance)}
        {user.reserved > 0 && (
          <div class="small faint">
            {t.home.reserved} {formatCredits(user.reserved)}
          </div>
        )}
      </td>
      <td class="number faint tiny">
        <Age at={user.lastSeenAt} />
      </td>
      <td class="tiny phone-wide">
        <span class="row end above">
          {mayGrant && (
            <Button
              isSmall
              look="quiet"
              aria-label={`${t.admin.grant}: ${user.email}`}
              onClick={() => onOpen({ kind: 'grant', user })}
            >
              {t.admin.grant}
            </Button>
          )}
          {mayWrite && (
            <Button
              isSmall
              look="quiet"
              aria-label={`${t.admin.change}: ${user.email}`}
              onClick={() => onOpen({ kind: 'change', user })}
            >
              {t.admin.change}
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}
