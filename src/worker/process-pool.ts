import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { ProcessRunner } from './process-runner.ts';
import type { Runner, RunnerReport, RunnerSource } from './runner.ts';
import type { Watchdog } from './watchdog.ts';

export interface ProcessPoolOptions {
  jobsPath: string;
  /** At most this many processes: one per slot. */
  size: number;
  /** False: a process is used for one job only. */
  reuse: boolean;
  /** How many are kept ready beyond those in use, while there is room. */
  spares: number;
  /** Ends the processes when this one no longer can. */
  watchdog: Pick<Watchdog, 'guard' | 'release'>;
  log: Log;
}

/**
 * Processes that have already loaded the definitions. Starting one costs some 40 ms of CPU, so that
 * happens ahead of time, and a warm process is used again unless it ended or each job is to have a
 * fresh one. A process that ended, for whatever reason, is simply not put back.
 */
export class ProcessPool implements RunnerSource, Service {
  readonly name = 'runners';
  readonly #options: ProcessPoolOptions;
  readonly #all = new Set<ProcessRunner>();
  readonly #idle: ProcessRunner[] = [];
  #starting: Promise<void>[] = [];
  #stopped = true;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopped = false;
  }

  /** Starts a process only to hear what definitions there are; it stays as the first idle one. */
  async report(): Promise<RunnerReport> {
    const { runner, report } = await this.#spawn();
    this.#idle.push(runner);
    return report;
  }

  /** A process that is ready for a job. Rejects when none could be started. */
  async acquire(): Promise<Runner> {
    let runner = this.#takeIdle();
    while (!runner && this.#starting.length > 0) {
      await Promise.race(this.#starting);
      runner = this.#takeIdle();
    }
    runner ??= (await this.#spawn()).runner;
    this.#keepSpares();
    return runner;
  }

  release(runner: Runner): void {
    runner.forget();
    if (this.#stopped || !this.#options.reuse) runner.kill();
    else if (runner.alive) this.#idle.push(runner as ProcessRunner);
    this.#keepSpares();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const running = [...this.#all];
    for (const runner of running) runner.kill();
    await Promise.all(running.map(async (runner) => await runner.exited));
  }

  /** Gets processes ready before the first job asks for one. */
  warm(): void {
    this.#keepSpares();
  }

  #takeIdle(): ProcessRunner | undefined {
    for (let runner = this.#idle.pop(); runner; runner = this.#idle.pop()) {
      if (runner.alive) return runner;
    }
    return undefined;
  }

  #keepSpares(): void {
    const { size, spares, log } = this.#options;
    // A process that is used once and ending makes room only when it is gone.
    const limit = this.#options.reuse ? size : size + spares;
    while (
      !this.#stopped &&
      this.#idle.length + this.#starting.length < spares &&
      this.#all.size < limit
    ) {
      const starting: Promise<void> = this.#spawn()
        .then(({ runner }) => void this.#idle.push(runner))
        .catch((error: unknown) => {
          if (!this.#stopped) log.warn({ err: error }, 'no spare runner');
        })
        .finally(() => {
          this.#starting = this.#starting.filter((other) => other !== starting);
        });
      this.#starting.push(starting);
    }
  }

  async #spawn(): Promise<{ runner: ProcessRunner; report: RunnerReport }> {
    const runner = new ProcessRunner(this.#options.jobsPath);
    this.#all.add(runner);
    if (runner.pid !== null) this.#options.watchdog.guard(runner.pid);
    void runner.exited.then(() => {
      if (runner.pid !== null) this.#options.watchdog.release(runner.pid);
      this.#all.delete(runner);
      if (!this.#options.reuse) this.#keepSpares();
    });
    const report = await runner.ready();
    return { runner, report };
  }
}
