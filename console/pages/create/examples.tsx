// Where vendors are played: orders that succeed, fail, are refused or take long, to see each of them once.
import type { ShownModel } from '../../data/queries.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { Card } from '../../ui/parts.tsx';

/** What the sandbox reads out of a prompt. */
const DIRECTIVES = {
  succeed: '',
  fail: ' [[sandbox outcome=fail reason=internal]]',
  refuse: ' [[sandbox outcome=fail reason=moderation]]',
  slow: ' [[sandbox seconds=60]]',
  busy: ' [[sandbox submit=429*2]]',
} as const;
const NAMES = Object.keys(DIRECTIVES) as (keyof typeof DIRECTIVES)[];

export function Examples({ model, onPrompt }: { model: ShownModel; onPrompt: (prompt: string) => void }) {
  return (
    <Card title={t.create.examples} actions={<span class="badge-sandbox">{t.sandbox.name}</span>}>
      <div class="stack tight">
        <p class="note soft">{t.create.examplesNote}</p>
        <div class="row wrap">
          {NAMES.map((name) => (
            <Button
              key={name}
              isSmall
              onClick={() => onPrompt(t.create.promptPlaceholder[model.kind] + DIRECTIVES[name])}
            >
              {t.create.example[name]}
            </Button>
          ))}
        </div>
      </div>
    </Card>
  );
}
