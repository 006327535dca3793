// Log in: e-mail address and password, then the code of an authenticator app where one is set up.
import { useAction } from '../../data/action.ts';
import { useState } from 'preact/hooks';
import { call } from '../../data/call.ts';
import { sessionBegan, type User } from '../../data/session.ts';
import { t } from '../../texts/index.ts';
import { Button, Form, TextField } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Head } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

export function LogIn() {
  const [flowToken, setFlowToken] = useState<string | null>(null);
  return (
    <main class="login">
      <div class="login-box">
        <div class="stack" style={{ justifyItems: 'center' }}>
          <span class="brand-mark" style={{ width: '36px', height: '36px' }}>
            <Icon name="models" size={20} />
          </span>
          <Head title={t.login.title} />
          <p class="soft login-note">{t.login.note}</p>
        </div>
        <div class="card">
          {flowToken === null ? (
            <Password onFlow={setFlowToken} />
          ) : (
            <SecondFactor flowToken={flowToken} onBack={() => setFlowToken(null)} />
          )}
        </div>
      </div>
    </main>
  );
}

function Password({ onFlow }: { onFlow: (token: string) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const logIn = useAction({
    mutationFn: () => call('POST /api/auth/login', { body: { email, password } }),
    onSuccess: ({ data }) =>
      'twoFactorRequired' in data ? onFlow(data.flowToken) : sessionBegan(data satisfies User),
  });
  return (
    <Form class="stack" onSubmit={() => logIn.mutate()}>
      <TextField
        label={t.login.email}
        type="email"
        value={email}
        onValue={setEmail}
        autoComplete="username"
        required
      />
      <TextField
        label={t.login.password}
        type="password"
        value={password}
        onValue={setPassword}
        autoComplete="current-password"
        required
      />
      <Problem error={logIn.error} />
      <Button type="submit" look="primary" class="full large" isBusy={logIn.isPending}>
        {t.login.action}
      </Button>
    </Form>
  );
}

function SecondFactor({ flowToken, onBack }: { flowToken: string; onBack: () => void }) {
  const [code, setCode] = useState('');
  const finish = useAction({
    mutationFn: () => call('POST /api/auth/login/2fa', { body: { flowToken, code } }),
    onSuccess: ({ data }) => sessionBegan(data),
  });
  return (
    <Form class="stack" onSubmit={() => finish.mutate()}>
      <TextField
        label={t.login.code}
        hint={t.login.codeHint}
        value={code}
        onValue={setCode}
        autoComplete="one-time-code"
        required
        autoFocus
      />
      <Problem error={finish.error} />
      <Button type="submit" look="primary" class="full large" isBusy={finish.isPending}>
        {t.login.action}
      </Button>
      <Button look="quiet" class="full" icon="back" onClick={onBack}>
        {t.login.back}
      </Button>
    </Form>
  );
}
