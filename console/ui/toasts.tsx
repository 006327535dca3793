// Short messages at the edge, which are read aloud as well: the ends of tasks, and what was done.
import { createStore, useStore } from '../data/store.ts';
import { Icon, type IconName } from './icons.tsx';

interface Toast {
  id: number;
  text: string;
  icon: IconName;
  href: string | null;
  /** What the message is about. */
  detail: string | null;
}

const SHOWN_MS = 5_000;
const SHOWN_MAX = 3;
/** Characters of a detail: it is read aloud. */
const DETAIL_MAX = 80;
const toasts = createStore<readonly Toast[]>([]);
let last = 0;

/** Shows the message for a few seconds and announces it. */
export function announce(
  text: string,
  icon: IconName = 'check',
  { href = null, detail = null }: Partial<Pick<Toast, 'href' | 'detail'>> = {},
): void {
  const toast = { id: ++last, text, icon, href, detail: detail?.slice(0, DETAIL_MAX) ?? null };
  toasts.set([...toasts.get(), toast].slice(-SHOWN_MAX));
  setTimeout(() => toasts.set(toasts.get().filter(({ id }) => id !== toast.id)), SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, icon, href, detail }) => {
        const words = (
          <>
            {text}
            {detail && <span class="small faint cut"> {detail}</span>}
          </>
        );
        return (
          <div class="toast" key={id}>
            <Icon name={icon} />
            {href ? (
              <a href={href} class="grow">
                {words}
              </a>
            ) : (
              <span class="grow">{words}</span>
            )}
          </div>
        );
      })}
    </div>
  );
}
