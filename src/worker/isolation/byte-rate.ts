import type { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';

export const BYTES_PER_SECOND = 8 * 1_048_576;

/** A line costs work beyond its bytes: a flood of line breaks is a flood too. */
export const LINE_COST = 256;

/** How much somebody may say: so many bytes a second, and a second's worth at once. */
export class ByteRate {
  readonly #bytesPerMs: number;
  #owed = 0;
  #atMs = 0;

  constructor(bytesPerSecond = BYTES_PER_SECOND) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** Counts what was said, and answers how long to wait before listening again. */
  spend(bytes: number, nowMs: number): number {
    const paid = (nowMs - this.#atMs) * this.#bytesPerMs;
    this.#owed = Math.max(0, this.#owed - paid) + bytes;
    this.#atMs = nowMs;
    return Math.max(0, this.#owed / this.#bytesPerMs - 1_000);
  }

  forgive(): void {
    this.#owed = 0;
  }
}

/**
 * Stops reading a stream for a while when it brings too much. Its pipe fills, and whoever writes into
 * it waits: a flood slows down its own process and nobody else.
 */
export class Throttle {
  readonly #stream: Readable;
  readonly #clock: Clock;
  readonly #rate = new ByteRate();
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  get paused(): boolean {
    return this.#timer !== undefined;
  }

  spend(bytes: number): void {
    const pauseMs = this.#rate.spend(bytes, this.#clock.monotonicMs());
    if (pauseMs < 1 || this.#timer) return;
    this.#stream.pause();
    this.#timer = setTimeout(() => this.#resume(), pauseMs).unref();
  }

  /** Reads on at once: for the last words of a job, which cannot be many any more. */
  lift(): void {
    this.#rate.forgive();
    this.#resume();
  }

  #resume(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stream.resume();
  }
}
