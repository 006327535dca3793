// A value that components can watch and anything may change.
import { useEffect, useState } from 'preact/hooks';

export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  watch(listener: () => void): () => void;
}

export function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState({});
  const drawn = store.get();
  useEffect(() => {
    // It may have changed since it was drawn, before this component watched.
    if (!Object.is(store.get(), drawn)) redraw({});
    return store.watch(() => redraw({}));
  }, [store]);
  return drawn;
}
