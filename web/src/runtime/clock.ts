import { useSyncExternalStore } from 'react';

/**
 * The time by the server's clock. All times that are shown come from there, and the clock of a laptop
 * may be minutes off: so what answers say in their Date header is believed once it differs clearly.
 */
const TRUSTED_SKEW_MS = 3_000;
const TICK_MS = 1_000;

let skewMs = 0;
let shownMs = Date.now();
const listeners = new Set<() => void>();

export function learnServerTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (!Number.isNaN(differenceMs)) {
    skewMs = Math.abs(differenceMs) > TRUSTED_SKEW_MS ? differenceMs : 0;
  }
}

export function now(): Date {
  return new Date(Date.now() + skewMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

setInterval(() => {
  if (document.hidden) return;
  shownMs = now().getTime();
  for (const listener of listeners) listener();
}, TICK_MS);

/** The time, told anew each second: one clock for all that is on the screen. */
export function useNow(): Date {
  return new Date(useSyncExternalStore(subscribe, () => shownMs));
}
