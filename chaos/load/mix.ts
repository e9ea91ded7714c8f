import type { Mix } from './requests.ts';

/** What the clients of most profiles ask for. */
export const MIX: Mix = {
  ok: 60,
  throw: 10,
  relapse: 4,
  slow: 4,
  crash: 2,
  memory: 0.5,
  hang: 0.5,
  stall: 0.2,
  snooze: 3,
  wait: 3,
  sleep: 8,
  spawn: 1,
  batch: 3,
  grouped: 4,
  narrow: 8,
  'retry-after': 3,
  'give-up': 2,
};

/** Jobs of a deployed definition, beside the usual. */
export const DEPLOYED: Mix = { deployed: 6 };
