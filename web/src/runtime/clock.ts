import { createCell } from './cell.ts';

/**
 * The server's time. A client clock may be minutes off, so the offset is learned from the `Date`
 * header of responses once it differs by more than this.
 */
const TRUSTED_SKEW_MS = 3_000;
const TICK_MS = 1_000;

let skewMs = 0;
const shownMs = createCell(Date.now());

export function learnServerTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (!Number.isNaN(differenceMs)) {
    skewMs = Math.abs(differenceMs) > TRUSTED_SKEW_MS ? differenceMs : 0;
  }
}

export function now(): Date {
  return new Date(Date.now() + skewMs);
}

setInterval(() => {
  if (!document.hidden) shownMs.set(now().getTime());
}, TICK_MS);

/** The current time, updated every second; one timer for the whole page. */
export function useNow(): Date {
  return new Date(shownMs.use());
}
