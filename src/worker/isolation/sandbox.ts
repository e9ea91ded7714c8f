import { type ChildProcess, spawn, type SpawnOptions, type StdioOptions } from 'node:child_process';
import { closeSync, constants, fchownSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { RunnerGroup } from '../../runtime/processes/cgroup.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type NameTag, TAKEN_OFF } from '../../runtime/processes/name-tag.ts';
import { removeFolder } from '../../runtime/processes/remove-folder.ts';
import type { User } from '../../runtime/processes/run-as.ts';
import { sweep } from '../../runtime/processes/sweep.ts';
import { endUser } from '../../runtime/processes/user-processes.ts';
import type { Watchdog } from '../watchdog.ts';
import type { CodeView } from './code-view.ts';
import { type LaunchRules, launchLine } from './launcher.ts';
import type { MemoryLimit } from './memory-limit.ts';

export interface SandboxOptions {
  tag: NameTag;
  /** A temporary folder of its own. */
  folder: string;
  env: Record<string, string>;
  /** The default working directory of its processes. */
  startFolder: string;
  /** The user of everything in here; null: the user of the worker. */
  user: User | null;
  processesMax: number | null;
  memory: MemoryLimit | null;
  /** Its control group; null where there can be none. */
  group: RunnerGroup | null;
  /** Descriptors that a process would inherit, and what replaces them. */
  closed: { descriptors: readonly number[]; nothing: number };
  /** The view of the code, where it is below a private folder. */
  view: Pick<CodeView, 'entrance'> | null;
  /** The program that drops privileges; null where there is none. */
  setpriv: string | null;
  /**
   * False in an image without a shell: then limits that the process must set itself are not set.
   */
  shell: boolean;
  watchdog: Pick<Watchdog, 'guard' | 'release'>;
  /** No process of the user is left, and no file except in the given folder. */
  giveBack(user: User, leftFolder: string | null): void;
  clock: Clock;
  log: Log;
}

export interface Entrance {
  cwd?: string | undefined;
  env?: Record<string, string>;
  /** Nothing, or an open file. */
  stdin?: 'ignore' | number;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const PRIVATE_NEW_FILE = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY;

/** Pids cannot have wrapped around within this time. */
const YOUNG_MS = 1_000;

/** The sandbox of one process and its children: made for it, and cleaned up after it. */
export class Sandbox {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly memory: MemoryLimit | null;
  readonly clock: Clock;
  readonly #options: SandboxOptions;
  #enteredMs = 0;
  /** Whether none of its processes is left. */
  #swept = true;
  #removed = false;

  constructor(options: SandboxOptions) {
    this.folder = options.folder;
    this.env = options.env;
    this.memory = options.memory;
    this.clock = options.clock;
    this.#options = options;
  }

  /**
   * Starts a program in the sandbox. It leads its own process group, so that a kill reaches its
   * children and Ctrl-C in a terminal does not reach it. Its file descriptor 3 is a socket to the
   * worker.
   */
  enter(argv: readonly string[], { cwd, env, stdin = 'ignore' }: Entrance): ChildProcess {
    const { tag, processesMax, user, view, setpriv, shell, watchdog, group } = this.#options;
    const { startFolder } = this.#options;
    const { dataLimitKb = null } = this.memory ?? {};
    const entrance = user && view ? view.entrance(user) : null;
    // As the job's user: as root we could enter a folder that the user cannot.
    const goes = user !== null && shell;
    const rules: LaunchRules = {
      tag,
      dataLimitKb,
      processesMax,
      waits: group !== null,
      cwd: goes ? (cwd ?? startFolder) : null,
      setpriv: entrance ? null : setpriv,
    };
    const line = shell ? launchLine(rules, argv) : argv;
    const [program = '', ...args] = [...(entrance ?? []), ...line];
    this.#enteredMs = this.clock.monotonicMs();
    this.#swept = false;
    const child = this.#spawn(program, args, {
      cwd: goes || entrance ? '/' : cwd,
      env: { ...this.env, ...env },
      stdio: this.#stdio(stdin),
      detached: true,
      // In a view, the entrance switches the user.
      ...(entrance ? {} : user),
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
   * No descriptors were left for its pipes. Node also emits an event later, which must be handled.
   */
  #refused(child: ChildProcess): never {
    child.on('error', () => undefined);
    this.#swept = true;
    void this.remove(null);
    throw new Error('cannot start a process: too many open files');
  }

  /** A descriptor cannot be closed in a child, only replaced. */
  #stdio(stdin: 'ignore' | number): StdioOptions {
    const { descriptors, nothing } = this.#options.closed;
    const stdio: ('ignore' | 'pipe' | number)[] = [stdin, 'pipe', 'pipe', 'pipe'];
    const last = Math.max(3, ...descriptors);
    for (let descriptor = stdio.length; descriptor <= last; descriptor += 1) {
      stdio.push(descriptors.includes(descriptor) ? nothing : 'ignore');
    }
    return stdio;
  }

  /** Some failures are emitted later as an event, others are thrown at once. */
  #spawn(program: string, args: string[], options: SpawnOptions): ChildProcess {
    try {
      return spawn(program, args, options);
    } catch (error) {
      this.#swept = true;
      void this.remove(null);
      throw error;
    }
  }

  /** Its process has exited: ends everything that came from it. */
  async sweep(pid: number): Promise<void> {
    const { tag, user, group, shell, log } = this.#options;
    const young = this.clock.monotonicMs() - this.#enteredMs < YOUNG_MS;
    // A process without privileges cannot leave a control group, and mostly the group is empty.
    const isEmpty = group !== null && shell && group.isEmpty;
    if (!isEmpty) group?.forbidForks();
    const left = user
      ? isEmpty
        ? 0
        : await endUser(user)
      : await sweep((other) => other === tag || other === TAKEN_OFF, young ? pid : null);
    this.#swept = left === 0;
    if (left > 0) log.error({ pid, left }, 'cannot end processes of a job');
  }

  /** After all its processes are gone. */
  async remove(pid: number | null): Promise<void> {
    const { watchdog, user, log } = this.#options;
    if (this.#removed) return;
    this.#removed = true;
    if (pid !== null) watchdog.release(pid);
    this.memory?.unwatch();
    await this.#options.group?.remove();
    let left: string | null = null;
    try {
      rmSync(this.#paramsFile, { force: true });
      await removeFolder(this.folder, user);
    } catch (error) {
      left = this.folder;
      log.warn({ folder: this.folder, err: error }, 'cannot remove the folder of a job');
    }
    if (user && this.#swept) this.#options.giveBack(user, left);
  }

  /**
   * The params of a command, in a file that only its user can read. It is beside the folder of the
   * job, in one that only the worker can write to: inside, a job could put a link in its place.
   */
  writeParams(json: string): string {
    const { user } = this.#options;
    const file = openSync(this.#paramsFile, PRIVATE_NEW_FILE, 0o600);
    try {
      for (let bytes = Buffer.from(json); bytes.length > 0;) {
        bytes = bytes.subarray(writeSync(file, bytes));
      }
      if (user) fchownSync(file, user.uid, user.gid);
    } finally {
      closeSync(file);
    }
    return this.#paramsFile;
  }

  get #paramsFile(): string {
    return `${this.folder}.json`;
  }
}
