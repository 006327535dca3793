// The price of the order as it stands, line by line, what is left after it, and the button that sends it.
import { useAction } from '../../data/action.ts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import { makeIdempotencyKey } from '../../data/idempotency.ts';
import { useBalance, type ShownModel } from '../../data/queries.ts';
import { taskChanged } from '../../data/events.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form } from '../../ui/controls.tsx';
import { formatCredits, formatDuration } from '../../ui/format.ts';
import { Line, PriceLines } from '../../ui/lines.tsx';
import { Amount } from '../../ui/parts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { orderOf, type Offer } from './draft.ts';
import { forgetDraft, type Draft } from '../../data/kept-draft.ts';

const PAUSE_MS = 200;

interface PanelProps {
  model: ShownModel;
  draft: Draft;
  offer: Offer;
}

export function PricePanel({ model, draft, offer }: PanelProps) {
  const price = usePrice(model, draft);
  const available = useBalance().data?.available;
  const create = useCreate(model, draft);
  const estimate = price.data?.creditsEstimate;
  const isTooMuch = estimate !== undefined && available !== undefined && estimate > available;
  const isComplete = draft.prompt.trim() !== '' && draft.images.length >= offer.imagesMin;
  return (
    <Form
      class="card"
      onSubmit={() => {
        if (isComplete && !create.isPending) create.mutate();
      }}
    >
      <div class="card-body stack">
        <div class="order-bar">
          <div class="price-total">
            <h2>{isTooMuch ? <span class="bad">{t.create.tooMuch}</span> : t.create.price}</h2>
            <strong aria-live="polite">
              <Amount credits={price.isPending ? undefined : (estimate ?? null)} width="64px" />
              <small>{t.creditsUnit}</small>
            </strong>
          </div>
          <Problem error={price.error ?? create.error} />
          <Button
            type="submit"
            look="primary"
            class="full large"
            isBusy={create.isPending}
            disabled={!isComplete || isTooMuch}
          >
            {t.create.action}
          </Button>
        </div>
        {!price.error && (
          <dl class="lines">
            <PriceLines lines={price.data?.breakdown} billingMode={price.data?.billingMode} />
            <Line credits={available}>{t.create.available}</Line>
            <div class="sum">
              <dt>{t.create.after}</dt>
              <dd class={isTooMuch ? 'bad' : undefined}>
                {estimate === undefined || available === undefined
                  ? '–'
                  : formatCredits(available - estimate)}
              </dd>
            </div>
          </dl>
        )}
        <p class="small faint">
          {model.usual_seconds && `${t.create.usual(formatDuration(model.usual_seconds.p50 * 1000))} `}
          {t.create.failsFree}
        </p>
      </div>
    </Form>
  );
}

/** The price of the order, asked for when the form has been still for a moment. */
function usePrice(model: ShownModel, draft: Draft) {
  const text = JSON.stringify(orderOf(model, draft, true));
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return useQuery({
    queryKey: ['estimate', asked],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await call('POST /api/estimates', { signal, body: JSON.parse(asked) })).data,
  });
}

/** Sends the order under one key: the same order is made once, however often it is sent. */
function useCreate(model: ShownModel, draft: Draft) {
  const queries = useQueryClient();
  const { route } = useLocation();
  const order = orderOf(model, draft);
  const text = JSON.stringify(order);
  const named = useRef({ text, key: makeIdempotencyKey() });
  return useAction({
    mutationFn: () => {
      if (named.current.text !== text) named.current = { text, key: makeIdempotencyKey() };
      return call('POST /api/tasks', { body: order, idempotencyKey: named.current.key });
    },
    onSuccess: ({ data }) => {
      named.current = { text: '', key: makeIdempotencyKey() };
      forgetDraft();
      taskChanged(data);
      void queries.invalidateQueries({ queryKey: ['tasks'] });
      void queries.invalidateQueries({ queryKey: ['balance'] });
      route(to(`tasks/${data.id}`));
    },
  });
}
