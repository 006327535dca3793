// A secret at the only moment at which it can be seen, with what it is good for.
import type { ComponentChildren } from 'preact';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { Code, Notice } from './parts.tsx';

interface ShownOnceProps {
  title: string;
  note: string;
  secret: string;
  /** What the button says that closes it. */
  done: string;
  onClose: () => void;
  children?: ComponentChildren;
}

export function ShownOnce({ title, note, secret, done, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} class="wide" onClose={onClose} isFirm>
      <div class="dialog-body">
        <Notice look="warn">{note}</Notice>
        <Code text={secret} label={title} />
        {children}
        <div class="dialog-foot">
          <Button look="primary" onClick={onClose}>
            {done}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
