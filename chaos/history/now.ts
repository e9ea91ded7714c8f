import type { Micros } from './history.ts';

/** The clock that all processes of this machine share, and that nobody can set. */
export function nowMicros(): Micros {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** How the wall clock stands to it, to a few microseconds: read at the moment when it ticks. */
export function clockSample(): { at: Micros; wall: Micros } {
  const before = Date.now();
  for (;;) {
    const wallMs = Date.now();
    if (wallMs !== before) return { at: nowMicros(), wall: wallMs * 1_000 };
  }
}
