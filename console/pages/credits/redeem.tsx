// Redeems a code, once, however often the button is pressed.
import { useAction } from '../../data/action.ts';
import { useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { call } from '../../data/call.ts';
import { makeIdempotencyKey } from '../../data/idempotency.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form } from '../../ui/controls.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Notice } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';

export function Redeem() {
  const [code, setCode] = useState('');
  const queries = useQueryClient();
  const named = useRef({ code: '', key: '' });
  const redeem = useAction({
    mutationFn: () => {
      if (named.current.code !== code) named.current = { code, key: makeIdempotencyKey() };
      return call('POST /api/redeem', { body: { code: code.trim() }, idempotencyKey: named.current.key });
    },
    onSuccess: () => {
      setCode('');
      void queries.invalidateQueries({ queryKey: ['balance'] });
      void queries.invalidateQueries({ queryKey: ['money'] });
    },
  });
  return (
    <section class="stack tight">
      <h2>{t.credits.redeem}</h2>
      <Form
        class="row wrap"
        onSubmit={() => {
          if (code.trim() !== '' && !redeem.isPending) redeem.mutate();
        }}
      >
        <input
          class="input mono"
          style={{ maxWidth: '320px' }}
          aria-label={t.credits.code}
          placeholder="SVC-…"
          autoComplete="off"
          spellcheck={false}
          value={code}
          onInput={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <Button type="submit" isBusy={redeem.isPending} disabled={code.trim() === ''}>
          {t.credits.redeemAction}
        </Button>
        <span class="hint">{t.credits.codeHint}</span>
      </Form>
      {redeem.data && !redeem.isPending && (
        <Notice look="good">{t.credits.redeemed(formatCredits(redeem.data.data.credits))}</Notice>
      )}
      <Problem error={redeem.error} />
    </section>
  );
}
