import { useSyncExternalStore } from 'react';

/** Whether the latest call reached the server: what the dot in the corner says. */
export type ConnectionState = 'live' | 'lost';

let state: ConnectionState = 'live';
const listeners = new Set<() => void>();

export const connection = {
  report(next: ConnectionState): void {
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  },
};

export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => state,
  );
}
