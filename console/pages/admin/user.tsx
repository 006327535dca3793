// Administration: one user: what it has and spends, its tasks and statement, keys and sessions, and what may
// be changed.
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { ApiError } from '../../data/api-error.ts';
import { call } from '../../data/call.ts';
import { useMe } from '../../data/queries.ts';
import { hasPermission } from '../../data/session.ts';
import type { ShownUser } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button, ButtonLink } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Amount, Bone, Card, Copy, Empty, Figure, Head, Notice, Skeleton } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Age, Moment } from '../../ui/times.tsx';
import { SwitchUser, Unfreeze } from './user-actions.tsx';
import { ChangeUser, Grant } from './user-forms.tsx';
import { UserKeys, UserLedger, UserSessions, UserSpending, UserTasks } from './user-parts.tsx';

type Open = 'change' | 'grant' | 'switch' | 'unfreeze' | null;

export default function AdminUser() {
  const id = useRoute().params['id'] ?? '';
  const user = useQuery({
    queryKey: ['admin', 'user', id],
    queryFn: async ({ signal }) => (await call('GET /api/admin/users/:id', { signal, params: { id } })).data,
  });
  if (user.data) return <Shown key={id} user={user.data} />;
  if (user.error instanceof ApiError && [400, 404].includes(user.error.status))
    return (
      <Empty isPage icon="search" title={t.admin.noSuchUser}>
        <ButtonLink href={to('admin/users')}>{t.pages.adminUsers}</ButtonLink>
      </Empty>
    );
  return (
    <>
      <Head title={<Bone width="260px" height="20px" />} name={t.pages.adminUsers} />
      <Problem error={user.error} onRetry={() => void user.refetch()} />
      <Card>
        <Skeleton lines={8} />
      </Card>
    </>
  );
}

function Shown({ user }: { user: ShownUser }) {
  const me = useMe().data;
  const may = (permission: string): boolean => Boolean(me && hasPermission(me, permission));
  return (
    <>
      <Top user={user} may={may} />
      <dl class="figures">
        <Figure name={t.available}>
          <Amount credits={user.balance - user.reserved} />
        </Figure>
        <Figure name={t.home.reserved} hint={t.home.reservedHint}>
          <Amount credits={user.reserved} />
        </Figure>
        {may('usage.read') && <UserSpending id={user.id} />}
      </dl>
      <div class="columns">
        <div class="stack loose">
          {may('tasks.read') && <UserTasks id={user.id} />}
          <UserLedger id={user.id} />
        </div>
        <div class="stack">
          <Card title={t.task.details}>
            <Facts user={user} />
          </Card>
          <UserKeys id={user.id} />
          <UserSessions id={user.id} />
        </div>
      </div>
    </>
  );
}

function Top({ user, may }: { user: ShownUser; may: (permission: string) => boolean }) {
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('users.write');
  return (
    <>
      <div class="stack tight">
        <a class="row note soft back" href={to('admin/users')}>
          <Icon name="back" size={14} />
          {t.pages.adminUsers}
        </a>
        <Head title={<span class="break">{user.email}</span>} name={user.email}>
          {mayWrite && (
            <>
              <Button onClick={() => setOpen('change')}>{t.admin.change}</Button>
              <Button onClick={() => setOpen('switch')}>
                {user.disabled ? t.admin.enable : t.admin.disable}
              </Button>
            </>
          )}
          {may('credits.grant') && (
            <Button look="primary" icon="plus" onClick={() => setOpen('grant')}>
              {t.admin.grant}
            </Button>
          )}
        </Head>
        <div class="row wide wrap note soft">
          {user.disabled && <span class="tag bad">{t.admin.disabled}</span>}
          <Copy text={user.id} />
        </div>
      </div>
      {user.frozen && (
        <Notice look="warn">
          <div class="row wrap between">
            <span>{t.admin.frozenNote}</span>
            {mayWrite && (
              <Button isSmall onClick={() => setOpen('unfreeze')}>
                {t.admin.unfreeze}
              </Button>
            )}
          </div>
        </Notice>
      )}
      {open === 'change' && <ChangeUser user={user} onClose={close} />}
      {open === 'grant' && <Grant user={user} onClose={close} />}
      {open === 'switch' && <SwitchUser user={user} onClose={close} />}
      {open === 'unfreeze' && <Unfreeze user={user} onClose={close} />}
    </>
  );
}

function Facts({ user }: { user: ShownUser }) {
  return (
    <dl class="facts">
      <dt>{t.admin.lastSeen}</dt>
      <dd>{user.lastSeenAt ? <Age at={user.lastSeenAt} /> : t.keys.never}</dd>
      <dt>{t.admin.since}</dt>
      <dd>
        <Moment at={user.createdAt} />
      </dd>
      <dt>{t.admin.factor}</dt>
      <dd>{user.twoFactorEnabled ? t.account.factorOn : t.account.factorOff}</dd>
      <dt>{t.admin.permissions}</dt>
      <dd>
        {user.permissions.length === 0
          ? t.none
          : user.permissions.map((permission) => (
              <div key={permission}>
                <code>{permission}</code>
              </div>
            ))}
      </dd>
    </dl>
  );
}
