import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { RunnerProcess, type RunnerReport } from './runner-process.ts';

export interface RunnerPoolOptions {
  jobsPath: string;
  /** At most this many processes: one per slot. */
  size: number;
  log: Log;
}

/**
 * Warm processes that have already loaded the definitions. Starting one costs some 40 ms of CPU, so
 * they are kept and used again, one job at a time each, and one more than needed is kept ready while
 * there is room. A process that ended, for whatever reason, is simply not put back.
 */
export class RunnerPool implements Service {
  readonly name = 'runners';
  readonly #options: RunnerPoolOptions;
  readonly #all = new Set<RunnerProcess>();
  readonly #idle: RunnerProcess[] = [];
  #spare: Promise<void> | undefined;
  #report: RunnerReport = { definitions: [], problems: [] };
  #stopped = true;

  constructor(options: RunnerPoolOptions) {
    this.#options = options;
  }

  /** What the first process found: which definitions this worker has, and which files it has not. */
  get report(): RunnerReport {
    return this.#report;
  }

  async start(): Promise<void> {
    if (!this.#stopped) return;
    this.#stopped = false;
    const { runner, report } = await this.#spawn();
    this.#report = report;
    this.#idle.push(runner);
  }

  /** A process that is ready for a job. Rejects when none could be started. */
  async acquire(): Promise<RunnerProcess> {
    let runner = this.#takeIdle();
    if (!runner && this.#spare) {
      await this.#spare;
      runner = this.#takeIdle();
    }
    runner ??= (await this.#spawn()).runner;
    this.#keepSpare();
    return runner;
  }

  release(runner: RunnerProcess): void {
    runner.forget();
    if (this.#stopped) runner.kill();
    else if (runner.alive) this.#idle.push(runner);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const running = [...this.#all];
    for (const runner of running) runner.kill();
    await Promise.all(running.map(async (runner) => await runner.exited));
  }

  #takeIdle(): RunnerProcess | undefined {
    for (let runner = this.#idle.pop(); runner; runner = this.#idle.pop()) {
      if (runner.alive) return runner;
    }
    return undefined;
  }

  #keepSpare(): void {
    const full = this.#all.size >= this.#options.size;
    if (this.#stopped || this.#spare || full || this.#idle.length > 0) return;
    this.#spare = this.#spawn()
      .then(({ runner }) => void this.#idle.push(runner))
      .catch((error: unknown) => {
        if (!this.#stopped) this.#options.log.warn({ err: error }, 'no spare runner');
      })
      .finally(() => (this.#spare = undefined));
  }

  async #spawn(): Promise<{ runner: RunnerProcess; report: RunnerReport }> {
    const runner = new RunnerProcess(this.#options.jobsPath);
    this.#all.add(runner);
    void runner.exited.then(() => this.#all.delete(runner));
    const report = await runner.ready();
    return { runner, report };
  }
}
