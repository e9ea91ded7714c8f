import { createCell } from '../runtime/cell.ts';

/**
 * State of the connection, shown by the dot in the menu. `lost`: the latest call failed to reach
 * the server; `reconnecting`: calls succeed, but the change feed is down.
 */
export type ConnectionState = 'live' | 'reconnecting' | 'lost';
type StreamState = 'none' | 'open' | 'broken';

const called = createCell<'live' | 'lost'>('live');
const streamed = createCell<StreamState>('none');

export const connection = { report: called.set, stream: streamed.set };

/** Safety net: queries are refetched this often even while the change feed is open. */
const SELDOM_MS = 30_000;

/** Interval between polls: `everyMs`, or `SELDOM_MS` while the change feed is open. */
export function pollMs(everyMs: number): number {
  return streamed.get() === 'open' ? SELDOM_MS : everyMs;
}

export function useConnection(): ConnectionState {
  const [latestCall, stream] = [called.use(), streamed.use()];
  return latestCall === 'live' && stream === 'broken' ? 'reconnecting' : latestCall;
}
