// Sets up and removes the second factor. The picture to scan is drawn here, so that the secret goes nowhere
// else.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { encode } from 'uqr';
import { call } from '../../data/call.ts';
import type { User } from '../../data/session.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, TextField } from '../../ui/controls.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Copy, Notice, useCopy } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

export function SecondFactor({ user }: { user: User }) {
  const [isRemoving, setRemoving] = useState(false);
  const queries = useQueryClient();
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ['me'] });
  const start = useAction({ mutationFn: () => call('POST /api/auth/totp') });
  const remove = useAction({
    mutationFn: () => call('DELETE /api/auth/totp'),
    onSuccess: () => {
      setRemoving(false);
      refresh();
    },
  });
  return (
    <>
      <div class="row wide">
        <span class={user.twoFactorEnabled ? 'status completed' : 'status'}>
          <Icon name="shield" />
          {user.twoFactorEnabled ? t.account.factorOn : t.account.factorOff}
        </span>
        {user.twoFactorEnabled ? (
          <Button isSmall onClick={() => setRemoving(true)}>
            {t.account.turnOff}
          </Button>
        ) : (
          <Button isSmall isBusy={start.isPending} onClick={() => start.mutate()}>
            {t.account.setUp}
          </Button>
        )}
      </div>
      <Problem error={start.error} />
      {start.data && (
        <SetUp
          secret={start.data.data.secret}
          url={start.data.data.otpauthUrl}
          onClose={() => {
            start.reset();
            refresh();
          }}
        />
      )}
      {isRemoving && (
        <Confirm
          title={t.account.turnOff}
          note={t.account.turnOffNote}
          action={t.account.turnOff}
          isDangerous
          run={remove}
          onClose={() => setRemoving(false)}
        />
      )}
    </>
  );
}

function SetUp({ secret, url, onClose }: { secret: string; url: string; onClose: () => void }) {
  const [code, setCode] = useState('');
  const confirm = useAction({ mutationFn: () => call('POST /api/auth/totp/confirm', { body: { code } }) });
  if (confirm.data) return <Recovery codes={confirm.data.data.recoveryCodes} onClose={onClose} />;
  return (
    <Dialog title={t.account.factor} onClose={onClose} isFirm>
      <Form class="dialog-body" onSubmit={() => confirm.mutate()}>
        <p class="soft">{t.account.scan}</p>
        <QrCode text={url} />
        <div class="note">
          <span class="faint">{t.account.secret} </span>
          <Copy text={secret} />
        </div>
        <TextField
          label={t.account.confirmCode}
          value={code}
          onValue={setCode}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
        />
        <Problem error={confirm.error} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{t.notNow}</Button>
          <Button type="submit" look="primary" isBusy={confirm.isPending} disabled={code === ''}>
            {t.account.confirm}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Recovery({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [isDone, copy] = useCopy();
  return (
    <Dialog title={t.account.recovery} onClose={onClose} isFirm>
      <div class="dialog-body">
        <Notice look="warn">{t.account.recoveryNote}</Notice>
        <ul class="recovery">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div class="dialog-foot">
          <Button icon={isDone ? 'check' : 'copy'} onClick={() => copy(codes.join('\n'))}>
            {isDone ? t.copied : t.copy}
          </Button>
          <Button look="primary" onClick={onClose}>
            {t.account.recoveryDone}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 0 });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={t.account.scan}
      shape-rendering="crispEdges"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
