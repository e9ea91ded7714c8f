import { useSyncExternalStore } from 'react';

/**
 * Whether the server wants to know who is there. It is learnt from its refusals, since a server
 * without keys asks nobody. The session itself is a cookie, which no script can read.
 */
let demanded = false;
const listeners = new Set<() => void>();

export const session = {
  demand(is: boolean): void {
    if (is === demanded) return;
    demanded = is;
    for (const listener of listeners) listener();
  },
};

export function useSignInDemanded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => demanded,
  );
}
