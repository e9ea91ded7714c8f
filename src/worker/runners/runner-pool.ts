import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Service } from '../../runtime/service.ts';
import type { Capacity, Lender } from './capacity.ts';
import type { Runner, RunnerExit, RunnerReport, RunnerSource, SpawnedRunner } from './runner.ts';

export interface RunnerPoolOptions {
  spawn(): SpawnedRunner;
  capacity: Capacity;
  /** The most runners: one per slot. */
  size: number;
  /** False: a runner is used for one job only. */
  reuse: boolean;
  /** How many are kept ready beyond those in use, while there is room. */
  spares: number;
  clock: Clock;
  log: Log;
}

/** An idle runner that is not a spare is ended after this time. */
const IDLE_MS = 60_000;

/**
 * A pool of processes or threads that have loaded the definitions. Starting one costs some 60 ms
 * of CPU, so that happens ahead of time, and a warm one is used again unless it exited, was
 * retired, or each job needs a fresh one. A runner that exited is not put back.
 */
export class RunnerPool implements RunnerSource, Service, Lender {
  readonly name = 'runners';
  readonly #options: RunnerPoolOptions;
  readonly #all = new Set<SpawnedRunner>();
  /** The most recently used runner is taken first, so that the others can end. */
  #idle: { runner: SpawnedRunner; sinceMs: number; owner: string | null }[] = [];
  /**
   * The owner of each runner. A runner that is not in here has run no job and can serve any
   * owner.
   */
  readonly #owners = new WeakMap<Runner, string>();
  /** Two are enough to know that there are several owners. */
  readonly #seen = new Set<string>();
  #starting: Promise<void>[] = [];
  #idleTimer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: RunnerPoolOptions) {
    this.#options = options;
    options.capacity.join(this);
  }

  /** Starts runners before the first job needs one. */
  async start(): Promise<void> {
    this.#keepSpares();
  }

  /** A runner that is ready for a job. Rejects when none could be started. */
  async acquire(owner: string): Promise<Runner> {
    let runner = this.#takeIdle(owner);
    while (!runner && this.#starting.length > 0) {
      await Promise.race(this.#starting);
      runner = this.#takeIdle(owner);
    }
    runner ??= await this.#begin();
    this.#owners.set(runner, owner);
    if (this.#seen.size < 2) this.#seen.add(owner);
    this.#keepSpares();
    return runner;
  }

  release(runner: Runner): void {
    runner.forget();
    if (this.#stopped || !this.#options.reuse || !runner.alive) runner.kill();
    else this.#putBack(runner as SpawnedRunner);
    this.#keepSpares();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.capacity.part(this);
    clearTimeout(this.#idleTimer);
    const running = [...this.#all];
    for (const runner of running) runner.kill();
    await Promise.all(running.map(async (runner) => await runner.exited));
    this.#idle = [];
  }

  endIdle(): boolean {
    const oldest = this.#idle.shift();
    oldest?.runner.kill();
    return oldest !== undefined;
  }

  /** One of this owner, else one without an owner. */
  #takeIdle(owner: string): SpawnedRunner | undefined {
    return this.#takeIdleOf(owner) ?? this.#takeIdleOf(null);
  }

  #takeIdleOf(owner: string | null): SpawnedRunner | undefined {
    for (;;) {
      const at = this.#idle.findLastIndex((entry) => entry.owner === owner);
      const [entry] = at < 0 ? [] : this.#idle.splice(at, 1);
      if (!entry || entry.runner.alive) return entry?.runner;
    }
  }

  #putBack(runner: SpawnedRunner): void {
    const owner = this.#owners.get(runner) ?? null;
    this.#idle.push({ runner, sinceMs: this.#options.clock.monotonicMs(), owner });
    this.#endIdleInTime();
  }

  /** The least recently used runner is first. */
  #endIdleInTime(): void {
    const { spares, clock } = this.#options;
    clearTimeout(this.#idleTimer);
    while (!this.#stopped && this.#idle.length > spares) {
      const idleMs = clock.monotonicMs() - (this.#idle[0]?.sinceMs ?? 0);
      if (idleMs < IDLE_MS) {
        this.#idleTimer = setTimeout(() => this.#endIdleInTime(), IDLE_MS - idleMs).unref();
        return;
      }
      this.endIdle();
    }
  }

  /** A new runner, for a waiting job. */
  async #begin(): Promise<SpawnedRunner> {
    this.#options.capacity.makeRoom(this);
    const { runner, ready } = this.#spawn();
    let exit: RunnerExit | undefined;
    void runner.exited.then((ended) => (exit = ended));
    try {
      await ready;
    } catch (error) {
      // Too little memory to start is a failure of the job, which reports it.
      if (exit?.cause?.code !== 'OUT_OF_MEMORY') throw error;
    }
    return runner;
  }

  /** A failure to start a spare must not fail the caller. */
  #keepSpares(): void {
    try {
      this.#spawnSpares();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot start a spare runner');
    }
  }

  #spawnSpares(): void {
    const { size, spares, reuse, capacity, log } = this.#options;
    // An ending runner that was used once makes room only when it is gone.
    const limit = reuse ? size : size + spares;
    // With several owners, a runner of one cannot serve the others.
    const unused = () =>
      this.#seen.size > 1
        ? this.#idle.filter(({ owner }) => owner === null).length
        : this.#idle.length;
    while (
      !this.#stopped &&
      unused() + this.#starting.length < spares &&
      this.#all.size < limit &&
      capacity.free
    ) {
      const { runner, ready } = this.#spawn();
      const starting: Promise<void> = ready
        .then(() => this.#putBack(runner))
        .catch((error: unknown) => {
          if (!this.#stopped) log.warn({ err: error }, 'cannot start a spare runner');
        })
        .finally(() => {
          this.#starting = this.#starting.filter((other) => other !== starting);
        });
      this.#starting.push(starting);
    }
  }

  #spawn(): { runner: SpawnedRunner; ready: Promise<RunnerReport> } {
    const { spawn, capacity, reuse } = this.#options;
    const runner = spawn();
    this.#all.add(runner);
    capacity.take();
    let wasReady = false;
    const ready = runner.ready().then((report) => {
      wasReady = true;
      return report;
    });
    void runner.exited.then(() => {
      this.#all.delete(runner);
      this.#idle = this.#idle.filter((entry) => entry.runner !== runner);
      capacity.leave();
      // After a failure to load, do not start the next one.
      if (!reuse && wasReady) this.#keepSpares();
    });
    return { runner, ready };
  }
}
