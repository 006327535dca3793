// Whether the API answers. While it does not, the pages keep what they have and say how old it is.
import { createStore, type Store } from './store.ts';

interface Connection extends Store<{ isLost: boolean; answeredAt: number }> {
  lost(): void;
  found(): void;
}

const store = createStore({ isLost: false, answeredAt: Date.now() });

export const connection: Connection = {
  ...store,
  lost: () => {
    const { isLost, answeredAt } = store.get();
    if (!isLost) store.set({ isLost: true, answeredAt });
  },
  found: () => {
    const { isLost } = store.get();
    // The moment matters only once the connection is lost, so it is no reason to draw anything anew.
    if (isLost) store.set({ isLost: false, answeredAt: Date.now() });
    else store.get().answeredAt = Date.now();
  },
};
