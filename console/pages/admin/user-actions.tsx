// What is asked before a user is disabled, enabled, or may spend again.
import { useQueryClient } from '@tanstack/preact-query';
import type { BodyOf } from '../../../api/openapi/route-types.ts';
import { useAction } from '../../data/action.ts';
import { call } from '../../data/call.ts';
import type { ShownUser } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Confirm } from '../../ui/dialog.tsx';

interface ActionProps {
  user: ShownUser;
  onClose: () => void;
}

export function SwitchUser({ user, onClose }: ActionProps) {
  const change = useChange(user, { disabled: !user.disabled }, onClose);
  return (
    <Confirm
      title={user.disabled ? t.admin.enableUser(user.email) : t.admin.disableUser(user.email)}
      note={user.disabled ? t.admin.enableNote : t.admin.disableNote}
      action={user.disabled ? t.admin.enable : t.admin.disable}
      isDangerous={!user.disabled}
      run={change}
      onClose={onClose}
    />
  );
}

export function Unfreeze({ user, onClose }: ActionProps) {
  const change = useChange(user, { frozen: false }, onClose);
  return (
    <Confirm
      title={t.admin.unfreezeTitle(user.email)}
      note={t.admin.unfreezeNote}
      action={t.admin.unfreeze}
      run={change}
      onClose={onClose}
    />
  );
}

function useChange(user: ShownUser, body: BodyOf<'PATCH /api/admin/users/:id'>, onClose: () => void) {
  const queries = useQueryClient();
  return useAction({
    mutationFn: () => call('PATCH /api/admin/users/:id', { params: { id: user.id }, body }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['admin'] });
      onClose();
    },
  });
}
