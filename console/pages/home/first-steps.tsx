// The way of a new account to its first result: a key, a call, and watching it arrive.
import { apiBase, to } from '../../data/addresses.ts';
import { useBalance, useModels } from '../../data/queries.ts';
import { t } from '../../texts/pages.ts';
import { ButtonLink } from '../../ui/controls.tsx';
import { Card, Code, Notice } from '../../ui/parts.tsx';

export function FirstSteps({ hasKey }: { hasKey: boolean }) {
  const model = useModels().data?.find(({ kind }) => kind === 'image')?.id ?? 'MODEL';
  const available = useBalance().data?.available;
  const body = JSON.stringify({ model, prompt: 'a lighthouse at dusk' });
  const command = [
    `curl -s ${apiBase()}/v1/images/generations \\`,
    "  -H 'Authorization: Bearer sk-svc_…' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
  return (
    <Card title={t.home.start} isFlush>
      {available === 0 && (
        <div class="card-body">
          <Notice>
            {t.home.noCredits}{' '}
            <a class="link" href={to('credits')}>
              {t.credits.redeem}
            </a>
          </Notice>
        </div>
      )}
      <ol class="steps">
        <li>
          <div class="stack tight">
            <h3>{t.home.makeKey}</h3>
            <p class="note soft">{t.home.makeKeyNote}</p>
            <div>
              <ButtonLink
                isSmall
                {...(!hasKey && { look: 'primary' as const })}
                icon="keys"
                href={to('keys', { make: '1' })}
              >
                {t.makeKey}
              </ButtonLink>
            </div>
          </div>
        </li>
        <li>
          <div class="stack tight">
            <h3>{t.home.send}</h3>
            <p class="note soft">{t.home.sendNote}</p>
            <Code text={command} label={t.home.send} />
          </div>
        </li>
        <li>
          <div class="stack tight">
            <h3>{t.home.watch}</h3>
            <p class="note soft">{t.home.watchNote}</p>
            <div>
              <ButtonLink isSmall icon="plus" href={to('create')}>
                {t.pages.create}
              </ButtonLink>
            </div>
          </div>
        </li>
      </ol>
    </Card>
  );
}
