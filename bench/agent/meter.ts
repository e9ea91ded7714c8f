import { nowMs } from '../harness/clock.ts';
import type { Params } from '../systems/system.ts';
import type { Mark } from './commands.ts';

/** Often enough to find the moment of the n-th job, rarely enough to be cheap. */
const JOBS_PER_MARK = 64;
const REPORT_MS = 10;

/** Counts the handlers that start in this process. It is all that a measured job does. */
export class Meter {
  readonly marks: Mark[] = [];
  readonly latencies: number[] = [];
  #count = 0;
  #reported = 0;
  #eachStart = false;
  readonly #report: (count: number) => void;

  constructor(report: (count: number) => void) {
    this.#report = report;
    setInterval(() => this.#send(), REPORT_MS).unref();
  }

  readonly handler = (params: Params): void => {
    if (params.at !== undefined) this.latencies.push(nowMs() - params.at);
    this.#count++;
    if (this.#count % JOBS_PER_MARK === 0) this.marks.push([nowMs(), this.#count]);
    if (this.#eachStart) this.#send();
  };

  reportEachStart(): void {
    this.#eachStart = true;
  }

  #send(): void {
    if (this.#count === this.#reported) return;
    this.#reported = this.#count;
    this.#report(this.#count);
  }
}
