// The dialog that asks for a fresh proof of identity, whatever action needs it.
import { useAction } from '../data/action.ts';
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { call } from '../data/call.ts';
import { useStore } from '../data/store.ts';
import { question } from '../data/verification.ts';
import { t } from '../texts/index.ts';
import { Button, Form, TextField } from '../ui/controls.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';

export function Verification() {
  const asked = useStore(question);
  return asked && <Ask answer={asked.answer} />;
}

function Ask({ answer }: { answer: (isVerified: boolean) => void }) {
  const [code, setCode] = useState('');
  const state = useQuery({
    queryKey: ['verification'],
    gcTime: 0,
    queryFn: async ({ signal }) => (await call('GET /api/verify', { signal })).data,
  });
  const method = state.data?.methods[0] ?? 'password';
  const verify = useAction({
    mutationFn: () => call('POST /api/verify', { body: { method, code } }),
    onSuccess: () => answer(true),
  });
  return (
    <Dialog title={t.verify.title} onClose={() => answer(false)}>
      <Form class="dialog-body" onSubmit={() => verify.mutate()}>
        <p class="soft">{t.verify.note}</p>
        {method === 'totp' ? (
          <TextField
            key="totp"
            label={t.verify.code}
            value={code}
            onValue={setCode}
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            autoFocus
          />
        ) : (
          <TextField
            key="password"
            label={t.login.password}
            type="password"
            value={code}
            onValue={setCode}
            autoComplete="current-password"
            required
            autoFocus
          />
        )}
        <Problem error={verify.error} />
        <div class="dialog-foot">
          <Button onClick={() => answer(false)}>{t.notNow}</Button>
          <Button
            type="submit"
            look="primary"
            isBusy={verify.isPending}
            disabled={code === '' || !state.data}
          >
            {t.verify.action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
