import type { Clock } from '../../runtime/clock.ts';

const EVERY_MS = 100;
const WIDTH = 24;
const CLEAR = '\r\u001b[K';

/** A progress bar that redraws itself; silent without a terminal. */
export class ProgressLine {
  readonly #stream: NodeJS.WritableStream;
  readonly #clock: Clock;
  readonly #visible: boolean;
  #nextMs = 0;
  #drawn = false;

  constructor(stream: NodeJS.WritableStream, wanted: boolean, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#visible = wanted && 'isTTY' in stream && stream.isTTY === true;
  }

  show(what: string, done: number, all: number): void {
    if (!this.#visible || this.#clock.monotonicMs() < this.#nextMs) return;
    this.#nextMs = this.#clock.monotonicMs() + EVERY_MS;
    this.#drawn = true;
    this.#stream.write(`${CLEAR}${progressBar(done, all)} ${what} ${done}/${all}`);
  }

  end(): void {
    if (this.#drawn) this.#stream.write(CLEAR);
  }
}

export function progressBar(done: number, all: number): string {
  const filled = all === 0 ? WIDTH : Math.round((WIDTH * Math.min(done, all)) / all);
  return '▓'.repeat(filled) + '░'.repeat(WIDTH - filled);
}
