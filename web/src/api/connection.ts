import { useSyncExternalStore } from 'react';

/**
 * How the server is heard: what the dot in the corner says. Lost is when the latest call did not reach
 * it, reconnecting when calls do but the stream of changes broke off.
 */
export type ConnectionState = 'live' | 'reconnecting' | 'lost';
type StreamState = 'none' | 'open' | 'broken';

let called: 'live' | 'lost' = 'live';
let streamed: StreamState = 'none';
const listeners = new Set<() => void>();

export const connection = {
  /** Whether the latest call reached the server. */
  report(next: 'live' | 'lost'): void {
    if (next === called) return;
    called = next;
    for (const listener of listeners) listener();
  },
  stream(next: StreamState): void {
    if (next === streamed) return;
    streamed = next;
    for (const listener of listeners) listener();
  },
};

/** What was told is asked for at once; this is for what was not, as no promise is without a doubt. */
const SELDOM_MS = 30_000;

/** How often to ask for what the stream tells of: so often, or seldom while there is a stream. */
export function unlessTold(everyMs: number): number {
  return streamed === 'open' ? SELDOM_MS : everyMs;
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => (called === 'live' && streamed === 'broken' ? 'reconnecting' : called),
  );
}
