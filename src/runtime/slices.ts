import { setImmediate } from 'node:timers/promises';
import { systemClock } from './clock.ts';

/** How long work may keep the event loop. */
const SLICE_MS = 10;

/**
 * Runs work that yields where it can be interrupted. After each slice, the event loop serves other
 * work.
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

/** The same for loops with awaits: an await alone does not let the event loop serve other work. */
export class Slices {
  #startedMs = systemClock.monotonicMs();

  /** Whether the slice is over: then await `pause()`. */
  get isOver(): boolean {
    return systemClock.monotonicMs() - this.#startedMs >= SLICE_MS;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#startedMs = systemClock.monotonicMs();
  }
}

/** A mutex: one piece of work at a time, in order of arrival. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
