import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../runtime/clock.ts';
import { programFile } from '../runtime/code.ts';
import { childEnvironment } from '../runtime/processes/environment.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';

/** The processes, folders and groups of a worker; see `isolation/sandboxes.ts`. */
export interface Overseen {
  family: number;
  folder: string;
  groups: readonly string[];
  /** Users of their own for jobs, and the descriptors of the locks on them. */
  users: { ids: readonly number[]; locks: readonly number[] } | null;
}

const RETRY_MS = 1_000;

/**
 * The worker's side of its watchdog; see `watchdog/main.ts`. If the watchdog exits, a new one is
 * started and gets the full state again.
 */
export class Watchdog implements Service {
  readonly name = 'watchdog';
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pids = new Set<number>();
  #overseen: Overseen | undefined;
  #child: ChildProcess | undefined;
  #leaseEndMs = Number.POSITIVE_INFINITY;
  #stopped = true;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The process starts with the first runner: a worker of inline jobs needs none. */
  async start(): Promise<void> {
    this.#stopped = false;
  }

  /** Everything it guards has ended by now; its input closes, and it exits. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const child = this.#child;
    if (!child) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin?.end();
    await gone;
  }

  oversee(overseen: Overseen): void {
    this.#overseen = overseen;
    if (this.#child) this.#sayOverseen();
  }

  guard(pid: number): void {
    this.#pids.add(pid);
    if (this.#child) this.#say(`guard ${pid}`);
    else this.#spawnIfNeeded();
  }

  release(pid: number): void {
    this.#pids.delete(pid);
    this.#say(`release ${pid}`);
  }

  /** At this time of the monotonic clock all runners must be gone, unless renewed. */
  renew(leaseEndMs: number): void {
    this.#leaseEndMs = leaseEndMs;
    const leftMs = Math.max(0, Math.round(leaseEndMs - this.#clock.monotonicMs()));
    this.#say(`lease ${leftMs}`);
  }

  #say(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }

  #sayOverseen(): void {
    if (!this.#overseen) return;
    const { family, folder, groups, users } = this.#overseen;
    this.#say(`family ${family}`);
    this.#say(`folder ${folder}`);
    for (const group of groups) this.#say(`groups ${group}`);
    if (users) this.#say(`users ${users.ids.join(',')}`);
  }

  #spawnIfNeeded(): void {
    if (!this.#stopped && !this.#child) this.#spawn();
  }

  #spawn(): void {
    const child = spawn(process.execPath, [programFile('worker/watchdog/main')], {
      // It holds the locks too, so the users stay locked until it has ended what a killed worker
      // left.
      stdio: ['pipe', 'ignore', 'ignore', ...(this.#overseen?.users?.locks ?? [])],
      env: childEnvironment(),
      detached: true,
    });
    this.#child = child;
    child.once('error', (error) => {
      this.#log.error({ err: error }, 'cannot start the watchdog; trying again');
      this.#child = undefined;
      setTimeout(() => this.#spawnIfNeeded(), RETRY_MS).unref();
    });
    child.once('exit', () => {
      this.#child = undefined;
      if (!this.#stopped) this.#log.warn('the watchdog exited; restarting');
      this.#spawnIfNeeded();
    });
    if (child.pid === undefined) return;
    child.stdin?.on('error', () => undefined);
    this.#sayOverseen();
    for (const pid of this.#pids) this.#say(`guard ${pid}`);
    if (Number.isFinite(this.#leaseEndMs)) this.renew(this.#leaseEndMs);
  }
}
