import { useSyncExternalStore } from 'react';

/** A value outside the components; `use` reads it in a component and follows its changes. */
export function createCell<Value>(value: Value) {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    subscribe,
    get: () => value,
    set: (next: Value) => {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, () => value),
  };
}
