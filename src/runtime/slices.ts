import { setImmediate } from 'node:timers/promises';
import { systemClock } from './clock.ts';

/** So long may work go on before others get their turn. */
const SLICE_MS = 10;

/**
 * Runs work that says by `yield` where it can be interrupted. When it has kept the event loop for a
 * while, whatever else waits is served first.
 */
export async function inSlices<T>(
  steps: Iterator<unknown, T>,
  sliceMs = SLICE_MS,
  pause: () => Promise<unknown> = setImmediate,
): Promise<T> {
  let startedMs = systemClock.monotonicMs();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (systemClock.monotonicMs() - startedMs < sliceMs) continue;
    await pause();
    startedMs = systemClock.monotonicMs();
  }
}

/** The same for work that is a loop with awaits: they alone give nobody else a turn. */
export class Slices {
  #startedMs = systemClock.monotonicMs();

  /** Whether it is time to let others go on: then await `pause()`. */
  get isOver(): boolean {
    return systemClock.monotonicMs() - this.#startedMs >= SLICE_MS;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#startedMs = systemClock.monotonicMs();
  }
}

/** Lets one piece of work go on at a time; the others wait in the order in which they came. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
