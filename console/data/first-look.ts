// Whether the page has what it shows first. What can wait, such as filters' choices, is asked for after that.
import { client } from './client.ts';
import { createStore } from './store.ts';

/** A page that reads nothing, or whose reading takes long, does not hold up the rest. */
const WAIT_MS = 1_000;
const ME = 'me';

export const firstLook = createStore(false);

/** Watches until the first reading of a page has ended, whichever way. */
export function watchFirstLook(): () => void {
  const end = (): void => {
    clearTimeout(timer);
    stop();
    firstLook.set(true);
  };
  const timer = setTimeout(end, WAIT_MS);
  const stop = client.getQueryCache().subscribe(({ type, query }) => {
    const { status } = query.state;
    if (type === 'updated' && query.queryKey[0] !== ME && status !== 'pending') end();
  });
  return end;
}
