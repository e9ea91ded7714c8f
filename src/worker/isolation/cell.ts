import { type ChildProcess, spawn, type SpawnOptions, type StdioOptions } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { NameTag } from '../../runtime/name-tag.ts';
import { sweep } from '../../runtime/sweep.ts';
import type { Watchdog } from '../watchdog.ts';
import { type LaunchRules, launchLine } from './launcher.ts';
import type { MemoryLimit } from './memory-limit.ts';

export interface CellOptions {
  tag: NameTag;
  /** A folder of its own for what the job writes down for a while. */
  folder: string;
  env: Record<string, string>;
  user: { uid?: number; gid?: number };
  processesMax: number | null;
  memory: MemoryLimit | null;
  /** Descriptors that a process would inherit from us, and what it gets in their place. */
  closed: { descriptors: readonly number[]; nothing: number };
  /** False in an image that has no shell: then nothing is set that only the process itself can set. */
  shell: boolean;
  watchdog: Pick<Watchdog, 'guard' | 'release'>;
  clock: Clock;
  log: Log;
}

export interface Entrance {
  cwd?: string | undefined;
  env?: Record<string, string>;
  /** Nothing, or an open file. */
  stdin?: 'ignore' | number;
}

/** Below this age of a process, the numbers of processes cannot have gone round since it began. */
const YOUNG_MS = 1_000;

/** The place of one process and of all that it starts: made for it, and emptied after it. */
export class Cell {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: CellOptions['user'];
  readonly memory: MemoryLimit | null;
  readonly clock: Clock;
  readonly #options: CellOptions;
  #enteredMs = 0;

  constructor(options: CellOptions) {
    this.folder = options.folder;
    this.env = options.env;
    this.user = options.user;
    this.memory = options.memory;
    this.clock = options.clock;
    this.#options = options;
  }

  /**
   * Starts a program here. It leads its own process group, so that a kill reaches whatever it has
   * started and Ctrl-C in a terminal does not reach it, and has four descriptors: the third beyond
   * output is a socket to us.
   */
  enter(argv: readonly string[], { cwd, env, stdin = 'ignore' }: Entrance): ChildProcess {
    const { tag, processesMax, user, shell, watchdog } = this.#options;
    const { group = null, dataLimitKb = null } = this.memory ?? {};
    const rules: LaunchRules = { tag, dataLimitKb, processesMax, waits: group !== null };
    const [program = '', ...args] = shell ? launchLine(rules, argv) : argv;
    this.#enteredMs = this.clock.monotonicMs();
    const child = this.#spawn(program, args, {
      cwd,
      env: { ...this.env, ...env },
      stdio: this.#stdio(stdin),
      detached: true,
      ...user,
    });
    if (!child.stdio) return this.#refused(child);
    const { pid } = child;
    if (pid === undefined) return child;
    watchdog.guard(pid);
    if (group) {
      try {
        group.join(pid);
        if (shell) (child.stdio[3] as Socket).write('\n');
      } catch {
        child.kill('SIGKILL');
      }
    }
    return child;
  }

  /**
   * The machine had no descriptors left for its pipes. That is told later as well, as an event that
   * would end the worker if nobody heard it.
   */
  #refused(child: ChildProcess): never {
    child.on('error', () => undefined);
    void this.remove(null);
    throw new Error('no process could be started: too many open files');
  }

  /** Nothing else can be done to a descriptor of a child than to put another one in its place. */
  #stdio(stdin: 'ignore' | number): StdioOptions {
    const { descriptors, nothing } = this.#options.closed;
    const stdio: ('ignore' | 'pipe' | number)[] = [stdin, 'pipe', 'pipe', 'pipe'];
    const last = Math.max(3, ...descriptors);
    for (let descriptor = stdio.length; descriptor <= last; descriptor += 1) {
      stdio.push(descriptors.includes(descriptor) ? nothing : 'ignore');
    }
    return stdio;
  }

  /** Some failures are told by an event later, others are thrown at once. */
  #spawn(program: string, args: string[], options: SpawnOptions): ChildProcess {
    try {
      return spawn(program, args, options);
    } catch (error) {
      void this.remove(null);
      throw error;
    }
  }

  /** Its process has ended: ends all that came from it, wherever that went. */
  async sweep(pid: number): Promise<void> {
    const { tag, log } = this.#options;
    const young = this.clock.monotonicMs() - this.#enteredMs < YOUNG_MS;
    const left = await sweep((other) => other === tag, young ? pid : null);
    if (left > 0) log.error({ pid, left }, 'processes of a job could not be ended');
  }

  /** Nobody is here any more. */
  async remove(pid: number | null): Promise<void> {
    const { watchdog, log } = this.#options;
    if (pid !== null) watchdog.release(pid);
    this.memory?.unwatch();
    await this.memory?.group?.remove();
    await rm(this.folder, { recursive: true, force: true }).catch((error: unknown) => {
      log.warn({ folder: this.folder, err: error }, 'the folder of a job could not be removed');
    });
  }
}
