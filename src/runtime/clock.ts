/**
 * Time and randomness are arguments, so that tests control both. `now` is wall time for people and
 * logs; `monotonicMs` is for leases and deadlines, because wall clocks jump.
 */
export interface Clock {
  now(): Date;
  monotonicMs(): number;
  random(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
};
