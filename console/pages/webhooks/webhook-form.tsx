// Makes an endpoint or changes one: address, events, description.
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { BodyOf } from '../../../api/openapi/route-types.ts';
import { useAction } from '../../data/action.ts';
import { ApiError } from '../../data/api-error.ts';
import { call } from '../../data/call.ts';
import { changesOf } from '../../data/changes.ts';
import type { Webhook } from '../../data/types.ts';
import { sentenceOf } from '../../texts/index.ts';
import { t } from '../../texts/pages.ts';
import { Button, Form, TextField } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/problem.tsx';

type Body = BodyOf<'POST /api/webhooks'>;
type Event = Body['events'][number];
const EVENTS: readonly Event[] = ['task.completed', 'task.failed', 'task.cancelled', 'balance.low'];
/** For a new endpoint: the ends that a program acts on. */
const FIRST_EVENTS: readonly Event[] = ['task.completed', 'task.failed'];

/** A new endpoint with its secret. */
export type MadeWebhook = Pick<Webhook, 'id'> & { secret: string };

interface Fields {
  url: string;
  description: string;
  events: readonly Event[];
  balanceBelow: string;
}

interface FormProps {
  webhook?: Webhook;
  onClose: () => void;
  onMade?: (made: MadeWebhook) => void;
}

export function WebhookForm({ webhook, onClose, onMade }: FormProps) {
  const [before] = useState<Fields>(() => fieldsOf(webhook));
  const [fields, setFields] = useState(before);
  const queries = useQueryClient();
  const save = useAction({
    mutationFn: async (): Promise<MadeWebhook | null> => {
      const body = bodyOf(fields);
      if (!webhook) return (await call('POST /api/webhooks', { body })).data;
      const changes = changesOf(bodyOf(before), body);
      await call('PATCH /api/webhooks/:id', { params: { id: webhook.id }, body: changes });
      return null;
    },
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
      if (made) onMade?.(made);
      else onClose();
    },
  });
  const { error } = save;
  const fieldOf = (name: 'url' | 'description' | 'balanceBelow') => ({
    value: fields[name],
    onValue: (value: string) => setFields({ ...fields, [name]: value }),
    error: error instanceof ApiError && error.param === name ? sentenceOf(error) : null,
  });
  const isLowTold = fields.events.includes('balance.low');
  return (
    <Dialog title={webhook ? t.webhooks.change : t.webhooks.make} onClose={onClose} isFirm>
      <Form class="dialog-body" onSubmit={() => save.mutate()}>
        <TextField
          label={t.webhooks.url}
          hint={t.webhooks.urlHint}
          type="url"
          placeholder="https://example.com/hooks"
          {...fieldOf('url')}
          required
          autoFocus
        />
        <Events chosen={fields.events} onChoose={(events) => setFields({ ...fields, events })} />
        {isLowTold && (
          <TextField
            label={t.webhooks.below}
            hint={t.webhooks.belowHint}
            inputMode="decimal"
            {...fieldOf('balanceBelow')}
            required
          />
        )}
        <TextField
          label={t.webhooks.description}
          hint={t.webhooks.descriptionHint}
          {...fieldOf('description')}
          maxLength={200}
        />
        <Problem error={error} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{t.notNow}</Button>
          <Button type="submit" look="primary" isBusy={save.isPending} disabled={fields.events.length === 0}>
            {webhook ? t.save : t.webhooks.make}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface EventsProps {
  chosen: readonly Event[];
  onChoose: (events: readonly Event[]) => void;
}

function Events({ chosen, onChoose }: EventsProps) {
  return (
    <fieldset class="choices">
      <legend class="label">{t.webhooks.events}</legend>
      <div class="stack tight">
        {EVENTS.map((event) => (
          <label key={event} class="check note">
            <input
              type="checkbox"
              checked={chosen.includes(event)}
              onChange={() => onChoose(EVENTS.filter((one) => chosen.includes(one) !== (one === event)))}
            />
            {t.webhooks.names[event]} <code class="faint">{event}</code>
          </label>
        ))}
      </div>
      {chosen.length === 0 && <span class="hint">{t.webhooks.noEvents}</span>}
    </fieldset>
  );
}

function fieldsOf(webhook: Webhook | undefined): Fields {
  return {
    url: webhook?.url ?? '',
    description: webhook?.description ?? '',
    events: webhook?.events ?? FIRST_EVENTS,
    balanceBelow: webhook?.balanceBelow?.toString() ?? '',
  };
}

function bodyOf({ url, description, events, balanceBelow }: Fields): Body {
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description.trim(),
    events: [...events],
    balanceBelow: events.includes('balance.low') ? Number(balanceBelow) : null,
  };
}
