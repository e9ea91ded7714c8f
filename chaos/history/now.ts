import type { Micros } from './history.ts';

/** The monotonic clock that all processes of this machine share; it cannot be set. */
export function nowMicros(): Micros {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** From the last look that showed the old time to the reading of the other clock. */
const UNDISTURBED: Micros = 100;

/**
 * How the wall clock stands to it, to a few microseconds: read at the moment when it ticks. A process
 * that is put aside just then, for 90 ms on a busy machine, has read two different moments; then the
 * next tick is taken.
 */
export function clockSample(): { at: Micros; wall: Micros } {
  for (;;) {
    let unchangedAt = nowMicros();
    const before = Date.now();
    for (;;) {
      const lookedAt = nowMicros();
      const wallMs = Date.now();
      if (wallMs === before) {
        unchangedAt = lookedAt;
        continue;
      }
      const at = nowMicros();
      if (at - unchangedAt < UNDISTURBED) return { at, wall: wallMs * 1_000 };
      break;
    }
  }
}
