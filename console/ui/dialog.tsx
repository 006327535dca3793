// Dialogs: the browser's own, which keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/index.ts';
import { Button } from './controls.tsx';
import { Problem } from './problem.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  class?: string;
  /** Without a head: the title is for readers of the screen alone. */
  isBare?: boolean;
  /** Whether a click beside the dialog leaves it open, because something in it would be lost. */
  isFirm?: boolean;
}

export function Dialog({ title, onClose, children, class: more = '', isBare, isFirm }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = element;
    const before = document.activeElement;
    current?.showModal();
    current?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={more}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={({ target, currentTarget }) => target === currentTarget && !isFirm && onClose()}
    >
      {isBare ? (
        <h2 id={id} class="unseen">
          {title}
        </h2>
      ) : (
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button look="quiet" isSmall icon="cross" aria-label={t.close} onClick={onClose} />
        </div>
      )}
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  note?: ComponentChildren;
  action: string;
  isDangerous?: boolean;
  /** What is done when it is confirmed; what went wrong is shown here. */
  run: { mutate: (nothing: void) => void; isPending: boolean; error: unknown };
  onClose: () => void;
  children?: ComponentChildren;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, note, action, isDangerous, run, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        {note && <p class="soft">{note}</p>}
        {children}
        <Problem error={run.error} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{t.notNow}</Button>
          <Button
            look={isDangerous ? 'danger' : 'primary'}
            isBusy={run.isPending}
            onClick={() => run.mutate()}
            data-autofocus
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
