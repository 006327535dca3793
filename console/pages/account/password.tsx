// Changes the password.
import { useAction } from '../../data/action.ts';
import { useState } from 'preact/hooks';
import { call } from '../../data/call.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, TextField } from '../../ui/controls.tsx';
import { Notice } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

export function Password() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useAction({
    mutationFn: () => call('POST /api/auth/password', { body: { currentPassword, newPassword } }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
    },
  });
  return (
    <Form class="stack" style={{ maxWidth: '320px' }} onSubmit={() => change.mutate()}>
      <TextField
        label={t.account.current}
        type="password"
        value={currentPassword}
        onValue={setCurrent}
        autoComplete="current-password"
        required
      />
      <TextField
        label={t.account.fresh}
        hint={t.account.freshHint}
        type="password"
        value={newPassword}
        onValue={setNew}
        autoComplete="new-password"
        required
      />
      {change.isSuccess && <Notice look="good">{t.account.changed}</Notice>}
      <Problem error={change.error} />
      <div>
        <Button
          type="submit"
          isBusy={change.isPending}
          disabled={currentPassword === '' || newPassword === ''}
        >
          {t.account.change}
        </Button>
      </div>
    </Form>
  );
}
