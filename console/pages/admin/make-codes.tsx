// Makes 1 to 500 redeem codes, one request each under a key of its own, then offers them as a file.
import { useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { call } from '../../data/call.ts';
import { downloadCsv } from '../../data/csv.ts';
import { makeIdempotencyKey } from '../../data/idempotency.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, MomentField, TextField } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Code, Meter, Notice } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

const COUNT_MAX = 500;
const SHOWN_MAX = 5;

interface Fields {
  label: string;
  credits: string;
  maxUses: string;
  perUser: string;
  expiresAt: string;
  count: string;
}

interface MadeCode {
  id: string;
  code: string;
}

const EMPTY: Fields = { label: '', credits: '', maxUses: '1', perUser: '', expiresAt: '', count: '1' };

export function MakeCodes({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState(EMPTY);
  const making = useMaking(fields);
  const count = Math.min(COUNT_MAX, Math.max(1, Math.floor(Number(fields.count) || 1)));
  const field = (name: keyof Fields) => ({
    value: fields[name],
    onValue: (value: string) => setFields({ ...fields, [name]: value }),
  });
  if (making.made.length > 0 && (making.made.length === count || making.error || making.isStopped))
    return (
      <Made
        fields={fields}
        made={making.made}
        error={making.error}
        onClose={onClose}
        onGoOn={making.made.length < count ? () => void making.run(count) : null}
      />
    );
  return (
    <Dialog title={t.admin.makeCodes} onClose={making.isRunning ? making.stop : onClose} isFirm>
      <Form
        class="dialog-body"
        onSubmit={() => {
          if (!making.isRunning) void making.run(count);
        }}
      >
        <TextField
          label={t.admin.label}
          hint={t.admin.labelHint}
          {...field('label')}
          maxLength={100}
          required
          autoFocus
        />
        <TextField label={t.admin.creditsEach} {...field('credits')} inputMode="decimal" required />
        <TextField label={t.admin.maxUses} {...field('maxUses')} inputMode="numeric" required />
        <TextField
          label={t.admin.perUser}
          {...field('perUser')}
          inputMode="numeric"
          placeholder={t.unlimited}
        />
        <MomentField label={t.admin.expires} hint={t.keys.expiresHint} {...field('expiresAt')} />
        <TextField
          label={`${t.admin.count} (1–${COUNT_MAX})`}
          {...field('count')}
          inputMode="numeric"
          required
        />
        {making.isRunning && (
          <div class="stack tight" role="status">
            <span class="note">{t.admin.making(making.made.length, count)}</span>
            <Meter value={making.made.length} max={count} label={t.admin.makeCodes} />
          </div>
        )}
        <Problem error={making.error} />
        <div class="dialog-foot">
          {making.isRunning ? (
            <Button onClick={making.stop}>{t.admin.stopMaking}</Button>
          ) : (
            <Button onClick={onClose}>{t.notNow}</Button>
          )}
          <Button type="submit" look="primary" isBusy={making.isRunning}>
            {t.admin.makeCodes}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/**
 * Makes codes one after the other. After an error it goes on with the one whose answer is missing: if that was
 * made, it is disabled, and another one made in its place.
 */
function useMaking(fields: Fields) {
  const [made, setMade] = useState<readonly MadeCode[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const [isStopped, setStopped] = useState(false);
  const stopping = useRef(false);
  const keys = useRef<string[]>([]);
  const queries = useQueryClient();
  const run = async (count: number): Promise<void> => {
    setRunning(true);
    setError(null);
    setStopped(false);
    stopping.current = false;
    let done = made;
    try {
      while (done.length < count && !stopping.current) {
        const idempotencyKey = (keys.current[done.length] ??= makeIdempotencyKey());
        const { data } = await call('POST /api/admin/redeem-codes', { body: bodyOf(fields), idempotencyKey });
        if (data.code === undefined) {
          // It was made before, and the answer that showed it was lost: it is never shown again.
          await call('PATCH /api/admin/redeem-codes/:id', { params: { id: data.id } });
          keys.current[done.length] = makeIdempotencyKey();
          continue;
        }
        done = [...done, { id: data.id, code: data.code }];
        setMade(done);
      }
    } catch (problem) {
      setError(problem);
    }
    setRunning(false);
    setStopped(stopping.current);
    void queries.invalidateQueries({ queryKey: ['admin', 'codes'] });
  };
  const stop = (): void => {
    stopping.current = true;
  };
  return { made, error, isRunning, isStopped, run, stop };
}

function bodyOf({ label, credits, maxUses, perUser, expiresAt }: Fields) {
  return {
    label,
    credits: Number(credits),
    maxUses: Number(maxUses),
    ...(perUser.trim() !== '' && { perUserLimit: Number(perUser) }),
    ...(expiresAt !== '' && { expiresAt: new Date(expiresAt).toISOString() }),
  };
}

interface MadeProps {
  fields: Fields;
  made: readonly MadeCode[];
  error: unknown;
  onClose: () => void;
  onGoOn: (() => void) | null;
}

function Made({ fields, made, error, onClose, onGoOn }: MadeProps) {
  const save = (): void =>
    downloadCsv(
      `codes-${fields.label.replaceAll(/[^\w-]+/g, '-')}.csv`,
      ['code', 'id', 'label', 'credits', 'maxUses'],
      made.map(({ id, code }) => [code, id, fields.label, Number(fields.credits), Number(fields.maxUses)]),
    );
  const shown = made.slice(0, SHOWN_MAX).map(({ code }) => code);
  return (
    <Dialog title={t.admin.madeCodes(made.length)} onClose={onClose} isFirm>
      <div class="dialog-body">
        <Notice look="warn">{t.admin.madeCodesNote}</Notice>
        <Code text={[...shown, ...(made.length > SHOWN_MAX ? ['…'] : [])].join('\n')} label={t.admin.code} />
        <Problem error={error} />
        <div class="dialog-foot">
          {onGoOn && <Button onClick={onGoOn}>{t.admin.goOn}</Button>}
          <Button onClick={onClose}>{t.close}</Button>
          <Button look="primary" icon="download" onClick={save}>
            {t.admin.keepFile}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
