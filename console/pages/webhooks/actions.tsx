// What can be done with an endpoint: try it, change it, stop it, give it a new secret, delete it.
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/action.ts';
import { to } from '../../data/addresses.ts';
import { call } from '../../data/call.ts';
import type { Webhook } from '../../data/types.ts';
import { t } from '../../texts/pages.ts';
import { Button } from '../../ui/controls.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { announce } from '../../ui/toasts.tsx';
import { Secret } from './secret.tsx';
import { WebhookForm } from './webhook-form.tsx';

type Open = 'change' | 'rotate' | 'delete' | null;

interface ActionsProps {
  webhook: Webhook;
  test: Test;
  change: Switch;
}

/** The buttons of an endpoint. What went wrong with `test` and `change` is shown by the page. */
export function WebhookActions({ webhook, test, change }: ActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const isDisabled = webhook.disabledAt !== null;
  return (
    <>
      <Button onClick={() => setOpen('delete')}>{t.webhooks.delete}</Button>
      {!isDisabled && (
        <Button isBusy={change.isPending} onClick={() => change.mutate(true)}>
          {t.webhooks.disable}
        </Button>
      )}
      <Button onClick={() => setOpen('rotate')}>{t.webhooks.rotate}</Button>
      <Button onClick={() => setOpen('change')}>{t.webhooks.change}</Button>
      {!isDisabled && (
        <Button look="primary" isBusy={test.isPending} onClick={() => test.mutate()}>
          {t.webhooks.test}
        </Button>
      )}
      {open === 'change' && <WebhookForm webhook={webhook} onClose={close} />}
      {open === 'rotate' && <Rotate id={webhook.id} onClose={close} />}
      {open === 'delete' && <Delete webhook={webhook} onClose={close} />}
    </>
  );
}

type Switch = ReturnType<typeof useSwitch>;

/** Disables the endpoint, or enables it again. */
export function useSwitch(id: string) {
  const queries = useQueryClient();
  return useAction({
    mutationFn: (disabled: boolean) =>
      call('PATCH /api/webhooks/:id', { params: { id }, body: { disabled } }),
    onSuccess: ({ data }) => {
      queries.setQueryData(['webhooks', id], data);
      void queries.invalidateQueries({ queryKey: ['webhooks'], exact: true });
    },
  });
}

type Test = ReturnType<typeof useTest>;

/** Sends an event of no meaning. */
export function useTest(id: string) {
  const queries = useQueryClient();
  return useAction({
    mutationFn: () => call('POST /api/webhooks/:id/test', { params: { id } }),
    onSuccess: () => {
      announce(t.webhooks.tested);
      void queries.invalidateQueries({ queryKey: ['webhooks', id] });
    },
  });
}

function Rotate({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient();
  const rotate = useAction({
    mutationFn: async () =>
      (await call('POST /api/webhooks/:id/rotate-secret', { params: { id } })).data.secret,
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['webhooks', id] }),
  });
  if (rotate.data) return <Secret secret={rotate.data} onClose={onClose} />;
  return (
    <Confirm
      title={t.webhooks.rotateTitle}
      note={t.webhooks.rotateNote}
      action={t.webhooks.rotate}
      run={rotate}
      onClose={onClose}
    />
  );
}

function Delete({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient();
  const { route } = useLocation();
  const remove = useAction({
    mutationFn: () => call('DELETE /api/webhooks/:id', { params: { id } }),
    onSuccess: () => {
      route(to('webhooks'));
      void queries.invalidateQueries({ queryKey: ['webhooks'], exact: true });
    },
  });
  return (
    <Confirm
      title={t.webhooks.deleteTitle}
      note={t.webhooks.deleteNote}
      action={t.webhooks.delete}
      isDangerous
      run={remove}
      onClose={onClose}
    >
      <p class="mono note break">{url}</p>
    </Confirm>
  );
}
