import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseUidSetting } from '../../core/access/job-uids.ts';
import { runnerUidProblem } from '../../core/access/machine-users.ts';
import {
  ControlGroups,
  type MemoryMethod,
  type RunnerGroup,
} from '../../runtime/processes/cgroup.ts';
import type { Clock } from '../../runtime/clock.ts';
import { inheritableDescriptors } from '../../runtime/processes/descriptors.ts';
import { childEnvironment } from '../../runtime/processes/environment.ts';
import type { Log } from '../../runtime/log.ts';
import { newFamily, tagOf } from '../../runtime/processes/name-tag.ts';
import { removeFolderOfFolders } from '../../runtime/processes/remove-folder.ts';
import type { Service } from '../../runtime/service.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import type { Watchdog } from '../watchdog.ts';
import { Sandbox, type SandboxOptions } from './sandbox.ts';
import { CodeView, SETPRIV } from './code-view.ts';
import { JobUsers, UidsTaken, whyNoUsers } from './job-users.ts';
import { SHELL } from './launcher.ts';
import { MemoryLimit } from './memory-limit.ts';
import { closedTo } from './reach.ts';
import { RssWatch } from './rss-watch.ts';
import { planView } from './view-plan.ts';

export interface SandboxesSettings {
  /** Variables of ours that jobs may see, separated by commas. */
  runnerEnv: string | null;
  /**
   * The users of job processes: `auto`, `none`, or a range of user ids (`core/access/job-uids.ts`).
   */
  runnerUids: string;
  /** The address of the server, which jobs see as LONGSHORE_PUBLIC_URL. */
  publicUrl?: string | null | undefined;
}

export interface SandboxesOptions extends SandboxesSettings {
  /** A file or folder of definitions, which jobs must be able to read. */
  jobs: string;
  slots: number;
  /** User ids used by something else, such as the embedded PostgreSQL. */
  reservedUids?: readonly number[];
  /** Creates the control group of a worker; null when it may not. */
  controlGroups?: (name: string) => ControlGroups | null;
  watchdog: Watchdog;
  clock: Clock;
  log: Log;
}

/** Processes and threads of one job. With its threads, a Node process counts as a dozen. */
const PROCESSES_MAX = 512;
/** Besides the slots: runners that are started ahead, and those that are just ending. */
const RUNNERS_BESIDES = 8;

/**
 * The sandboxes of job processes: each has an environment of its own, a temporary folder, and
 * limits. What a job makes is removed afterwards; if the worker is killed, the watchdog does that,
 * so everything is under one folder, one control group and one family of name tags.
 */
export class Sandboxes implements Service {
  readonly name = 'sandboxes';
  readonly #options: SandboxesOptions;
  readonly #family: number;
  readonly #watch: RssWatch;
  #folder: string | null = null;
  #groups: ControlGroups | null = null;
  #env: Record<string, string> = {};
  #shell = true;
  #closed: SandboxOptions['closed'] = { descriptors: [], nothing: -1 };
  #members = 0;
  #users: JobUsers | null = null;
  #view: CodeView | null = null;
  #setpriv: string | null = null;
  #startFolder = '/';
  #warning: string | null = null;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#family = newFamily(options.clock.random());
    this.#watch = new RssWatch(options.clock);
  }

  get memoryMethod(): MemoryMethod {
    return this.#groups?.method ?? 'rlimit and RSS watch';
  }

  /** Whether each job process has a user of its own. */
  get hasUsers(): boolean {
    return this.#users !== null;
  }

  /** A warning for the operator when jobs have the rights of root. */
  get warning(): string | null {
    return this.#warning;
  }

  async start(): Promise<void> {
    if (this.#folder !== null) return;
    this.#users = await this.#findUsers();
    this.#folder = mkdtempSync(join(this.#users ? openTempFolder() : tmpdir(), 'longshore-'));
    // Other users must be able to pass through it, to a folder of their own.
    if (this.#users) chmodSync(this.#folder, 0o711);
    await this.#openView(this.#folder);
    // A working directory that other users cannot reach is not used, except in a view.
    this.#startFolder = this.#view || closedTo(process.cwd()) === null ? process.cwd() : '/';
    this.#setpriv = existsSync(SETPRIV) ? SETPRIV : null;
    const makeGroups = this.#options.controlGroups ?? ((name) => ControlGroups.create(name));
    this.#groups = makeGroups(`longshore-${this.#family}`);
    const { runnerEnv, publicUrl } = this.#options;
    this.#env = childEnvironment(runnerEnv);
    if (publicUrl) this.#env['LONGSHORE_PUBLIC_URL'] = publicUrl;
    this.#closed = { descriptors: inheritableDescriptors(), nothing: openSync(devNull, 'r+') };
    this.#shell = existsSync(SHELL);
    if (!this.#shell) this.#options.log.warn(`no ${SHELL}: jobs run with fewer limits`);
    this.#options.watchdog.oversee({
      family: this.#family,
      folder: this.#folder,
      groups: this.#groups?.paths ?? [],
      users: this.#users && { ids: this.#users.ids, locks: this.#users.descriptors },
    });
  }

  async stop(): Promise<void> {
    const folder = this.#folder;
    if (folder === null) return;
    this.#folder = null;
    if (this.#closed.nothing >= 0) closeSync(this.#closed.nothing);
    this.#closed = { descriptors: [], nothing: -1 };
    await this.#groups?.remove();
    this.#groups = null;
    await removeFolderOfFolders(folder);
    this.#view?.close();
    this.#view = null;
    await this.#users?.close();
    this.#users = null;
    // Removes the folders that several users had to open.
    await removeFolderOfFolders(folder);
  }

  /** A sandbox for one process. */
  sandbox(memoryMb: number | null): Sandbox {
    if (this.#folder === null) throw new Error('the worker has stopped');
    const { watchdog, clock, log } = this.#options;
    const member = (this.#members += 1);
    const tag = tagOf(this.#family, member);
    const folder = join(this.#folder, String(member));
    const user = this.#users?.acquire() ?? null;
    mkdirSync(folder, { mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    const group = this.#group(member, memoryMb);
    return new Sandbox({
      tag,
      folder,
      env: { ...this.#env, ...this.#folderVariables(folder) },
      startFolder: this.#startFolder,
      user,
      processesMax: user ? PROCESSES_MAX : null,
      memory: memoryMb === null ? null : new MemoryLimit(memoryMb, tag, group, this.#watch),
      group,
      closed: this.#closed,
      view: this.#view,
      setpriv: this.#setpriv,
      shell: this.#shell,
      watchdog,
      giveBack: (free, leftFolder) => this.#users?.release(free, leftFolder),
      clock,
      log,
    });
  }

  /** Code below a private folder needs a view, because other users cannot read it. */
  async #openView(folder: string): Promise<void> {
    const { jobs, runnerUids } = this.#options;
    if (!this.#users) return;
    try {
      const plan = planView(jobs, process.cwd());
      if (plan) this.#view = await CodeView.open(plan, join(folder, 'view'));
    } catch (error) {
      if (runnerUids !== 'auto') throw error;
      this.#warning = rootWarning(
        `the users that jobs would have cannot read the code: ${(error as Error).message}`,
      );
      await this.#users.close();
      this.#users = null;
      chmodSync(folder, 0o700);
    }
  }

  /** Users of their own for jobs; null where the setting or the machine has none. */
  async #findUsers(): Promise<JobUsers | null> {
    const { runnerUids, slots, reservedUids = [], log } = this.#options;
    const setting = parseUidSetting(runnerUids);
    if (setting === null) throw new Error(`not a range of user ids: ${runnerUids}`);
    if (setting === 'none') return null;
    const meets = setting === 'auto' ? null : runnerUidProblem(setting);
    if (meets !== null) throw new StartRefusal('configuration', meets);
    const problem = whyNoUsers();
    if (problem === null) {
      try {
        const runners = 2 * slots + RUNNERS_BESIDES;
        return await JobUsers.claim({ setting, runners, reserved: reservedUids, log });
      } catch (error) {
        // Other processes must not be able to cause jobs to run as root.
        if (setting !== 'auto' || error instanceof UidsTaken) throw error;
        this.#warning = rootWarning((error as Error).message);
        return null;
      }
    }
    if (setting !== 'auto') {
      throw new StartRefusal(
        'configuration',
        `LONGSHORE_RUNNER_UIDS=${runnerUids} cannot be followed: ${problem}, and only root may ` +
          'start a process as another user: unset it, or start the worker as root',
      );
    }
    this.#warning = process.getuid?.() === 0 ? rootWarning(problem) : null;
    return null;
  }

  /** If the kernel refuses a group that it once allowed, sampling still enforces the limit. */
  #group(member: number, memoryMb: number | null): RunnerGroup | null {
    try {
      const memoryBytes = memoryMb === null ? null : memoryMb * 1_048_576;
      const limits = { memoryBytes, processesMax: PROCESSES_MAX };
      return this.#groups?.make(String(member), limits) ?? null;
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        'cannot make a control group for a job; sampling its memory instead',
      );
      return null;
    }
  }

  /** HOME of another user is not the one in our environment. */
  #folderVariables(folder: string): Record<string, string> {
    const own = { TMPDIR: folder, TEMP: folder, TMP: folder };
    return this.#users ? { ...own, HOME: folder } : own;
  }
}

/** One that all users can reach. */
function openTempFolder(): string {
  const found = [tmpdir(), '/tmp', '/var/tmp'].find((path) => closedTo(path) === null);
  if (found === undefined) throw new Error(`no temporary folder is open to all users: ${tmpdir()}`);
  return found;
}

function rootWarning(why: string): string {
  return (
    `jobs run as root, with all its rights, because ${why}. Fix that, run the worker as an ordinary ` +
    'user, or accept it with LONGSHORE_RUNNER_UIDS=none'
  );
}
