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
  /** A folder of its own for what the job writes down for a while. */
  folder: string;
  env: Record<string, string>;
  /** Where its processes begin, unless they are told another folder. */
  startFolder: string;
  /** Whom everything here runs as, and nothing elsewhere; null: as we do. */
  user: User | null;
  processesMax: number | null;
  memory: MemoryLimit | null;
  /** Its control group; null where there can be none. */
  group: RunnerGroup | null;
  /** Descriptors that a process would inherit from us, and what it gets in their place. */
  closed: { descriptors: readonly number[]; nothing: number };
  /** Where the code is below a private folder: through what its processes see it. */
  view: Pick<CodeView, 'entrance'> | null;
  /** The program that takes away the means to gain rights; null where there is none. */
  setpriv: string | null;
  /** False in an image that has no shell: then nothing is set that only the process itself can set. */
  shell: boolean;
  watchdog: Pick<Watchdog, 'guard' | 'release'>;
  /** No process is left of the user that it was given, and no file but in a folder that is named. */
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

/** Below this age of a process, the numbers of processes cannot have gone round since it began. */
const YOUNG_MS = 1_000;

/** The place of one process and of all that it starts: made for it, and emptied after it. */
export class Sandbox {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly memory: MemoryLimit | null;
  readonly clock: Clock;
  readonly #options: SandboxOptions;
  #enteredMs = 0;
  /** Whether none of its processes is left; none has begun yet. */
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
   * Starts a program here. It leads its own process group, so that a kill reaches whatever it has
   * started and Ctrl-C in a terminal does not reach it, and has four descriptors: the third beyond
   * output is a socket to us.
   */
  enter(argv: readonly string[], { cwd, env, stdin = 'ignore' }: Entrance): ChildProcess {
    const { tag, processesMax, user, view, setpriv, shell, watchdog, group } = this.#options;
    const { startFolder } = this.#options;
    const { dataLimitKb = null } = this.memory ?? {};
    const entrance = user && view ? view.entrance(user) : null;
    // With its own rights: we could put it into a folder that it cannot get to by itself.
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
      // In a view it becomes that user by itself.
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
   * The machine had no descriptors left for its pipes. That is told later as well, as an event that
   * would end the worker if nobody heard it.
   */
  #refused(child: ChildProcess): never {
    child.on('error', () => undefined);
    this.#swept = true;
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
      this.#swept = true;
      void this.remove(null);
      throw error;
    }
  }

  /** Its process has ended: ends all that came from it, wherever that went. */
  async sweep(pid: number): Promise<void> {
    const { tag, user, group, shell, log } = this.#options;
    const young = this.clock.monotonicMs() - this.#enteredMs < YOUNG_MS;
    // Nobody without privileges gets out of a control group; mostly nobody is left in it.
    const isEmpty = group !== null && shell && group.isEmpty;
    if (!isEmpty) group?.forbidForks();
    const left = user
      ? isEmpty
        ? 0
        : await endUser(user)
      : await sweep((other) => other === tag || other === TAKEN_OFF, young ? pid : null);
    this.#swept = left === 0;
    if (left > 0) log.error({ pid, left }, 'processes of a job could not be ended');
  }

  /** Nobody is here any more. */
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
      log.warn({ folder: this.folder, err: error }, 'the folder of a job could not be removed');
    }
    if (user && this.#swept) this.#options.giveBack(user, left);
  }

  /**
   * The params of a program, in a file that only its user can read. It is beside the folder of the
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
