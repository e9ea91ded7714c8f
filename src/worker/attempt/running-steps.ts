import type { FailedStep, JobError } from '../../core/job/job.ts';

const STEPS_MAX = 100;

/** The steps that an attempt has started and not stored, the oldest first. */
export class RunningSteps {
  readonly #startedMs = new Map<string, number>();

  /** False for one too many: a job that starts steps without end must not fill the worker. */
  started(name: string): boolean {
    if (this.#startedMs.size >= STEPS_MAX) return false;
    this.#startedMs.set(name, performance.now());
    return true;
  }

  ended(name: string): void {
    this.#startedMs.delete(name);
  }

  /** The error of an attempt that was ended from outside: the step that ran longest is named. */
  in(error: JobError): JobError {
    const [oldest] = this.#startedMs;
    if (!oldest) return error;
    const [name, startedMs] = oldest;
    const durationMs = Math.round(performance.now() - startedMs);
    const step: FailedStep = { name, durationMs, untilEndMs: durationMs };
    return { ...error, step };
  }
}
