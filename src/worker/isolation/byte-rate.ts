import type { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';

export const BYTES_PER_SECOND = 8 * 1_048_576;

/** The cost of a line besides its bytes, so that many empty lines also count as a flood. */
export const LINE_COST = 256;

/** A rate limit in bytes per second, with bursts of one second. */
export class ByteRate {
  readonly #bytesPerMs: number;
  #owed = 0;
  #atMs = 0;

  constructor(bytesPerSecond = BYTES_PER_SECOND) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** Counts bytes, and returns how long to wait before reading on. */
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
 * Pauses reading a stream that brings too much. Its pipe fills and the writer blocks: a flood slows
 * down only its own process.
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

  /** Resumes at once, for the last output of a job. */
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
