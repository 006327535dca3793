// Short messages at the edge, which are read aloud as well: the ends of tasks, and what was done.
import { createStore, useStore } from '../data/store.ts';
import { Icon, type IconName } from './icons.tsx';

interface Toast {
  id: number;
  text: string;
  icon: IconName;
  href: string | null;
}

const SHOWN_MS = 5_000;
const SHOWN_MAX = 3;
const toasts = createStore<readonly Toast[]>([]);
let last = 0;

/** Shows the message for a few seconds and announces it. */
export function announce(text: string, icon: IconName = 'check', href: string | null = null): void {
  const toast = { id: ++last, text, icon, href };
  toasts.set([...toasts.get(), toast].slice(-SHOWN_MAX));
  setTimeout(() => toasts.set(toasts.get().filter(({ id }) => id !== toast.id)), SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, icon, href }) => (
        <div class="toast" key={id}>
          <Icon name={icon} />
          {href ? (
            <a href={href} class="grow">
              {text}
            </a>
          ) : (
            <span class="grow">{text}</span>
          )}
        </div>
      ))}
    </div>
  );
}
