// The forms that make a user, change one, and add credits to one.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import type { BodyOf } from '../../../api/openapi/route-types.ts';
import type { ComponentChildren } from 'preact';
import { call } from '../../data/call.ts';
import { changesOf } from '../../data/changes.ts';
import { makeIdempotencyKey } from '../../data/idempotency.ts';
import type { ShownUser } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, TextField } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Problem } from '../../ui/problem.tsx';
import { announce } from '../../ui/toasts.tsx';

type NewUser = BodyOf<'POST /api/admin/users'>;
type Permission = NonNullable<NewUser['permissions']>[number];

/** All permissions: one that the API has and this table does not is a type error. */
const ALL: Readonly<Record<Permission, true>> = {
  'redemption.read': true,
  'redemption.sensitive_write': true,
  'tasks.read': true,
  'audit.read': true,
  'users.read': true,
  'users.write': true,
  'credits.grant': true,
  'system.read': true,
  'usage.read': true,
};
const PERMISSIONS = Object.keys(ALL) as Permission[];

export function MakeUser({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [permissions, setPermissions] = useState<readonly Permission[]>([]);
  const save = useSaving(
    () => call('POST /api/admin/users', { body: { email, password, permissions: [...permissions] } }),
    onClose,
  );
  return (
    <FormDialog title={t.admin.makeUser} action={t.admin.makeUser} save={save} onClose={onClose}>
      <TextField
        label={t.account.email}
        type="email"
        value={email}
        onValue={setEmail}
        autoComplete="off"
        required
        autoFocus
      />
      <TextField
        label={t.admin.initialPassword}
        hint={t.account.freshHint}
        type="password"
        value={password}
        onValue={setPassword}
        autoComplete="new-password"
        required
      />
      <Permissions chosen={permissions} onChoose={setPermissions} />
    </FormDialog>
  );
}

export function ChangeUser({ user, onClose }: { user: ShownUser; onClose: () => void }) {
  const [before] = useState({
    permissions: user.permissions as readonly Permission[],
    disabled: user.disabled,
  });
  const [permissions, setPermissions] = useState(before.permissions);
  const [isDisabled, setDisabled] = useState(before.disabled);
  const [password, setPassword] = useState('');
  const save = useSaving(() => {
    const { permissions: named, ...rest } = changesOf(before, { permissions, disabled: isDisabled });
    const body = { ...rest, ...(named && { permissions: [...named] }), ...(password !== '' && { password }) };
    return call('PATCH /api/admin/users/:id', { params: { id: user.id }, body });
  }, onClose);
  return (
    <FormDialog title={user.email} action={t.save} save={save} onClose={onClose}>
      <Permissions chosen={permissions} onChoose={setPermissions} />
      <TextField
        label={t.admin.setPassword}
        hint={t.account.freshHint}
        type="password"
        value={password}
        onValue={setPassword}
        autoComplete="new-password"
      />
      <label class="check note">
        <input type="checkbox" checked={isDisabled} onChange={() => setDisabled(!isDisabled)} />
        {t.admin.disabled}
      </label>
      <p class="hint">{t.admin.disableNote}</p>
    </FormDialog>
  );
}

export function Grant({ user, onClose }: { user: ShownUser; onClose: () => void }) {
  const [credits, setCredits] = useState('');
  const [note, setNote] = useState('');
  const named = useRef({ text: '', key: '' });
  const save = useSaving(async () => {
    const text = `${credits} ${note}`;
    if (named.current.text !== text) named.current = { text, key: makeIdempotencyKey() };
    const body = { credits: Number(credits), note };
    await call('POST /api/admin/users/:id/grants', {
      params: { id: user.id },
      body,
      idempotencyKey: named.current.key,
    });
    announce(t.admin.granted(formatCredits(Number(credits))));
  }, onClose);
  return (
    <FormDialog
      title={`${t.admin.grant}: ${user.email}`}
      action={t.admin.grant}
      save={save}
      onClose={onClose}
    >
      <TextField
        label={t.admin.grantCredits}
        value={credits}
        onValue={setCredits}
        inputMode="decimal"
        required
        autoFocus
      />
      <TextField
        label={t.admin.grantNote}
        hint={t.admin.grantNoteHint}
        value={note}
        onValue={setNote}
        required
      />
    </FormDialog>
  );
}

function useSaving(save: () => Promise<unknown>, onClose: () => void) {
  const queries = useQueryClient();
  return useAction({
    mutationFn: save,
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['admin'] });
      onClose();
    },
  });
}

interface FormDialogProps {
  title: string;
  action: string;
  save: { mutate: () => void; isPending: boolean; error: Error | null };
  onClose: () => void;
  children: ComponentChildren;
}

function FormDialog({ title, action, save, onClose, children }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <Form class="dialog-body" onSubmit={() => save.mutate()}>
        {children}
        <Problem error={save.error} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{t.notNow}</Button>
          <Button type="submit" look="primary" isBusy={save.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Permissions({
  chosen,
  onChoose,
}: {
  chosen: readonly Permission[];
  onChoose: (permissions: readonly Permission[]) => void;
}) {
  return (
    <fieldset class="choices">
      <legend class="label">{t.admin.permissions}</legend>
      <div class="stack" style={{ gap: 0 }}>
        {PERMISSIONS.map((permission) => (
          <label key={permission} class="check note">
            <input
              type="checkbox"
              checked={chosen.includes(permission)}
              onChange={() =>
                onChoose(
                  chosen.includes(permission)
                    ? chosen.filter((one) => one !== permission)
                    : [...chosen, permission],
                )
              }
            />
            <code>{permission}</code>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
