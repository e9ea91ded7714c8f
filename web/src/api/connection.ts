import { useSyncExternalStore } from 'react';

/**
 * State of the connection, shown by the dot in the menu. `lost`: the latest call failed to reach
 * the server; `reconnecting`: calls succeed, but the change feed is down.
 */
export type ConnectionState = 'live' | 'reconnecting' | 'lost';
type StreamState = 'none' | 'open' | 'broken';

let called: 'live' | 'lost' = 'live';
let streamed: StreamState = 'none';
const listeners = new Set<() => void>();

export const connection = {
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

/** Safety net: queries are refetched this often even while the change feed is open. */
const SELDOM_MS = 30_000;

/** Interval between polls: `everyMs`, or `SELDOM_MS` while the change feed is open. */
export function pollMs(everyMs: number): number {
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
