// Whether the API answers. While it does not, the pages keep what they have and say how old it is.
import { createStore, type Store } from './store.ts';

interface Connection extends Store<{ isLost: boolean; answeredAt: number }> {
  lost(): void;
  /** Notes an answer to a request that was sent then; the present, by `performance.now()`. */
  found(sentAt: number): void;
}

const store = createStore({ isLost: false, answeredAt: Date.now() });
/** By `performance.now()`, which no clock that is set can turn back. */
let lostAt = 0;

export const connection: Connection = {
  ...store,
  lost: () => {
    const { isLost, answeredAt } = store.get();
    lostAt = performance.now();
    if (!isLost) store.set({ isLost: true, answeredAt });
  },
  found: (sentAt) => {
    const { isLost } = store.get();
    // An answer that was on its way when the connection was lost does not say that it is back.
    if (isLost && sentAt < lostAt) return;
    // The moment matters only once the connection is lost, so it is no reason to draw anything anew.
    if (isLost) store.set({ isLost: false, answeredAt: Date.now() });
    else store.get().answeredAt = Date.now();
  },
};
