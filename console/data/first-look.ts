// Whether the page has what it shows first. What can wait, such as filters' choices, is asked for after that.
import { client } from './client.ts';
import { createStore } from './store.ts';

const ME = 'me';

export const firstLook = createStore(false);

/** For a page that reads nothing. */
export function endFirstLook(): void {
  firstLook.set(true);
}

/**
 * Watches until something that a page reads is there, or its first attempt has failed. No time is measured:
 * on a slow machine the rest would be asked for before what the page shows.
 */
export function watchFirstLook(): () => void {
  return client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.query.queryKey[0] === ME) return;
    if (event.query.state.status !== 'pending' || event.action.type === 'failed') endFirstLook();
  });
}
