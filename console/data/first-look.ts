// Whether the page has what it shows first. What can wait, such as filters' choices, is asked for after that.
import { client } from './client.ts';
import { forgetBegun } from './first-reads.ts';
import { createStore } from './store.ts';

const ME = 'me';

export const firstLook = createStore(false);

/** For a page that reads nothing. */
export function endFirstLook(): void {
  forgetBegun();
  firstLook.set(true);
}

/**
 * Watches until something that a page reads is there, or its first attempt has failed. No time is measured:
 * on a slow machine the rest would be asked for before what the page shows.
 */
export function watchFirstLook(): () => void {
  const cache = client.getQueryCache();
  const isRead = cache
    .getAll()
    .some(({ queryKey, state }) => queryKey[0] !== ME && state.status !== 'pending');
  if (isRead) afterPaint(endFirstLook);
  return cache.subscribe((event) => {
    if (event.type !== 'updated' || event.query.queryKey[0] === ME) return;
    if (event.query.state.status !== 'pending' || event.action.type === 'failed') afterPaint(endFirstLook);
  });
}

/** Calls it once what has just been read is on the screen; at once where the page is not seen. */
function afterPaint(act: () => void): void {
  if (document.hidden) return act();
  setTimeout(() => requestAnimationFrame(() => setTimeout(act)));
}
