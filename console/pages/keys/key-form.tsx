// Makes a key or changes one: name, limits, models, end. A new key is shown once.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiError } from '../../data/api-error.ts';
import { apiBase } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { changesOf } from '../../data/changes.ts';
import { useModels } from '../../data/queries.ts';
import type { Key } from '../../data/types.ts';
import { sentenceOf } from '../../texts/index.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, MomentField, TextField } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Code } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';

interface Fields {
  name: string;
  quota: string;
  dailyBudget: string;
  modelScope: readonly string[];
  expiresAt: string;
}

export function KeyForm({ entry, onClose }: { entry?: Key; onClose: () => void }) {
  const [before] = useState<Fields>(() => fieldsOf(entry));
  const [fields, setFields] = useState(before);
  const queries = useQueryClient();
  const save = useAction({
    mutationFn: async (): Promise<string | null> => {
      const body = bodyOf(fields);
      if (!entry) return (await call('POST /api/keys', { body })).data.key;
      const changes = changesOf(bodyOf(before), body);
      await call('PATCH /api/keys/:id', { params: { id: entry.id }, body: changes });
      return null;
    },
    onSuccess: (key) => {
      void queries.invalidateQueries({ queryKey: ['keys'] });
      if (key === null) onClose();
    },
  });
  if (save.data) return <Made apiKey={save.data} onClose={onClose} />;
  const problemOf = (name: string): string | null =>
    save.error instanceof ApiError && save.error.param?.startsWith(name)
      ? sentenceOf({ ...save.error, message: save.error.message })
      : null;
  const field = (name: 'name' | 'quota' | 'dailyBudget') => ({
    value: fields[name],
    onValue: (value: string) => setFields({ ...fields, [name]: value }),
    error: problemOf(name),
  });
  return (
    <Dialog title={entry ? `${t.keys.change}: ${entry.name}` : t.makeKey} onClose={onClose} isFirm>
      <Form class="dialog-body" onSubmit={() => save.mutate()}>
        <TextField
          label={t.keys.name}
          hint={t.keys.nameHint}
          {...field('name')}
          maxLength={100}
          required
          autoFocus
        />
        <TextField
          label={t.keys.quota}
          hint={t.keys.quotaHint}
          {...field('quota')}
          inputMode="decimal"
          placeholder={t.unlimited}
        />
        <TextField
          label={t.keys.budget}
          hint={t.keys.budgetHint}
          {...field('dailyBudget')}
          inputMode="decimal"
          placeholder={t.unlimited}
        />
        <Scope chosen={fields.modelScope} onChoose={(modelScope) => setFields({ ...fields, modelScope })} />
        <MomentField
          label={t.keys.expires}
          hint={t.keys.expiresHint}
          error={problemOf('expiresAt')}
          value={fields.expiresAt}
          onValue={(expiresAt) => setFields({ ...fields, expiresAt })}
        />
        <Problem error={save.error} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{t.notNow}</Button>
          <Button type="submit" look="primary" isBusy={save.isPending}>
            {entry ? t.save : t.makeKey}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Scope({
  chosen,
  onChoose,
}: {
  chosen: readonly string[];
  onChoose: (models: readonly string[]) => void;
}) {
  const models = useModels().data ?? [];
  const toggle = (id: string): void =>
    onChoose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset class="choices">
      <legend class="label">
        {t.keys.scope} <span class="faint">{chosen.length > 0 ? t.keys.models(chosen.length) : t.all}</span>
      </legend>
      <div class="scope" tabIndex={-1}>
        {models.map(({ id }) => (
          <label key={id} class="check note">
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
            {id}
          </label>
        ))}
      </div>
      <span class="hint">{t.keys.scopeHint}</span>
    </fieldset>
  );
}

/** The only moment at which the key itself is to be seen. */
function Made({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const model = useModels().data?.find(({ kind }) => kind === 'image')?.id ?? 'MODEL';
  const body = JSON.stringify({ model, prompt: 'a lighthouse at dusk' });
  const command = [
    `curl -s ${apiBase()}/v1/images/generations \\`,
    `  -H 'Authorization: Bearer ${apiKey}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
  return (
    <ShownOnce
      title={t.keys.madeTitle}
      note={t.keys.madeNote}
      secret={apiKey}
      done={t.keys.madeDone}
      onClose={onClose}
    >
      <h3>{t.keys.madeCalls}</h3>
      <Code text={command} label={t.keys.madeCalls} />
    </ShownOnce>
  );
}

function fieldsOf(entry: Key | undefined): Fields {
  const amount = (credits: number | null | undefined): string =>
    credits === null || credits === undefined ? '' : String(credits);
  return {
    name: entry?.name ?? '',
    quota: amount(entry?.quota),
    dailyBudget: amount(entry?.dailyBudget),
    modelScope: entry?.modelScope ?? [],
    expiresAt: entry?.expiresAt ? localOf(entry.expiresAt) : '',
  };
}

function bodyOf({ name, quota, dailyBudget, modelScope, expiresAt }: Fields) {
  return {
    name,
    quota: quota.trim() === '' ? null : Number(quota),
    dailyBudget: dailyBudget.trim() === '' ? null : Number(dailyBudget),
    modelScope: modelScope.length > 0 ? [...modelScope] : null,
    expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
  };
}

/** A moment as fields for date and time have it: in the time zone of the browser, without it. */
function localOf(instant: string): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
