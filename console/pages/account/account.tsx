// Account: who one is, password, second factor, sessions, and how this browser shows the console.
import { useMe } from '../../data/queries.ts';
import { t } from '../../texts/pages.ts';
import { Copy, Head } from '../../ui/parts.tsx';
import { Moment } from '../../ui/times.tsx';
import type { ComponentChildren } from 'preact';
import { Looks } from './looks.tsx';
import { Password } from './password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { SecurityEvents, Sessions } from './sessions.tsx';

export default function Account() {
  const user = useMe().data;
  if (!user) return null;
  return (
    <>
      <Head title={t.pages.account} note={t.account.note} />
      <div class="sections">
        <Section title={t.account.identity}>
          <dl class="facts">
            <dt>{t.account.email}</dt>
            <dd>{user.email}</dd>
            <dt>Id</dt>
            <dd>
              <Copy text={user.id} />
            </dd>
            <dt>{t.account.since}</dt>
            <dd>
              <Moment at={user.createdAt} />
            </dd>
            {user.permissions.length > 0 && (
              <>
                <dt>{t.account.permissions}</dt>
                <dd class="row wrap">
                  {user.permissions.map((permission) => (
                    <span key={permission} class="tag">
                      {permission}
                    </span>
                  ))}
                </dd>
              </>
            )}
          </dl>
        </Section>
        <Section title={t.account.looks} note={t.account.looksNote}>
          <Looks />
        </Section>
        <Section title={t.account.password} note={t.account.passwordNote}>
          <Password />
        </Section>
        <Section title={t.account.factor} note={t.account.factorNote}>
          <SecondFactor user={user} />
        </Section>
        <Section title={t.account.sessions} note={t.account.sessionsNote}>
          <Sessions />
        </Section>
        <Section title={t.account.security} note={t.account.securityNote}>
          <SecurityEvents />
        </Section>
      </div>
    </>
  );
}

function Section({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <div>
        <h2>{title}</h2>
        {note && <p>{note}</p>}
      </div>
      <div class="stack">{children}</div>
    </section>
  );
}
