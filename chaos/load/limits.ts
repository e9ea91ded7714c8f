import type { WantedLimit } from '../history/history.ts';

/** What the definition `narrow` promises. There are more workers than this, and more keys. */
export const NARROW_LIMIT = 3;
export const NARROW_KEY_LIMIT = 1;
export const NARROW_KEYS = 6;

export function narrowLimits(key: string): WantedLimit[] {
  return [
    { name: 'narrow', most: NARROW_LIMIT },
    { name: `narrow ${key}`, most: NARROW_KEY_LIMIT },
  ];
}

/** The longest silence of a job that falls silent: longer than a busy machine takes for a sign. */
export const STALL_TIMEOUT_MS = 3_000;

/** The most jobs of one call of the definition `grouped`. A worker has more slots. */
export const GROUP_SIZE = 3;
