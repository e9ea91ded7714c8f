import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MemoryGroup, MemoryGroups, type MemoryMethod } from '../../runtime/cgroup.ts';
import type { Clock } from '../../runtime/clock.ts';
import { inheritableDescriptors } from '../../runtime/descriptors.ts';
import { childEnvironment } from '../../runtime/environment.ts';
import type { Log } from '../../runtime/log.ts';
import { newFamily, tagOf } from '../../runtime/name-tag.ts';
import type { Service } from '../../runtime/service.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import type { Watchdog } from '../watchdog.ts';
import { Cell, type CellOptions } from './cell.ts';
import { SHELL } from './launcher.ts';
import { MemoryLimit } from './memory-limit.ts';
import { RssWatch } from './rss-watch.ts';

export interface CleanRoomSettings {
  /** Variables of ours that jobs may see, split by commas. */
  runnerEnv: string | null;
  /** Who the processes of jobs run as; null means as we do. */
  runnerUid: number | null;
  runnerGid: number | null;
}

export interface CleanRoomOptions extends CleanRoomSettings {
  slots: number;
  /** Makes the control group of a worker, or finds that it may not. */
  memoryGroups?: (name: string) => MemoryGroups | null;
  watchdog: Watchdog;
  clock: Clock;
  log: Log;
}

/** With its threads, a Node process counts as a dozen; a job may start some of its own. */
const PROCESSES_PER_SLOT = 64;
const PROCESSES_BESIDES = 512;

/**
 * Where the processes of jobs run: each with an environment that was chosen for it, a temporary
 * folder of its own, and limits on what it may take. What it makes is removed after it; if the worker
 * is killed, the watchdog does that, which is why everything is under one folder, one control group
 * and one family of name tags.
 */
export class CleanRoom implements Service {
  readonly name = 'clean room';
  readonly #options: CleanRoomOptions;
  readonly #family: number;
  readonly #watch: RssWatch;
  #folder: string | null = null;
  #groups: MemoryGroups | null = null;
  #env: Record<string, string> = {};
  #shell = true;
  #closed: CellOptions['closed'] = { descriptors: [], nothing: -1 };
  #members = 0;

  constructor(options: CleanRoomOptions) {
    this.#options = options;
    this.#family = newFamily(options.clock.random());
    this.#watch = new RssWatch(options.clock);
  }

  get memoryMethod(): MemoryMethod {
    return this.#groups?.method ?? 'rlimit and RSS watch';
  }

  async start(): Promise<void> {
    if (this.#folder !== null) return;
    this.#refuseForeignUser();
    this.#folder = mkdtempSync(join(tmpdir(), 'longshore-'));
    // Another user must be able to pass through it, to a folder of its own.
    if (this.#hasUser) chmodSync(this.#folder, 0o711);
    const makeGroups = this.#options.memoryGroups ?? ((name) => MemoryGroups.create(name));
    this.#groups = makeGroups(`longshore-${this.#family}`);
    this.#env = childEnvironment(this.#options.runnerEnv);
    this.#closed = { descriptors: inheritableDescriptors(), nothing: openSync(devNull, 'r+') };
    this.#shell = existsSync(SHELL);
    if (!this.#shell) this.#options.log.warn(`no ${SHELL}: jobs run with fewer limits`);
    const groups = this.#groups?.path ?? null;
    this.#options.watchdog.oversee({ family: this.#family, folder: this.#folder, groups });
  }

  async stop(): Promise<void> {
    const folder = this.#folder;
    if (folder === null) return;
    this.#folder = null;
    closeSync(this.#closed.nothing);
    await this.#groups?.remove();
    this.#groups = null;
    await rm(folder, { recursive: true, force: true });
  }

  /** A place for one process. */
  cell(memoryMb: number | null): Cell {
    if (this.#folder === null) throw new Error('the worker has stopped');
    const { runnerUid, runnerGid, slots, watchdog, clock, log } = this.#options;
    const member = (this.#members += 1);
    const tag = tagOf(this.#family, member);
    const folder = join(this.#folder, String(member));
    mkdirSync(folder, { mode: 0o700 });
    const user = {
      ...(runnerUid === null ? {} : { uid: runnerUid }),
      ...(runnerGid === null ? {} : { gid: runnerGid }),
    };
    if (this.#hasUser) giveAway(folder, user);
    const group = memoryMb === null ? null : this.#group(member, memoryMb);
    return new Cell({
      tag,
      folder,
      env: { ...this.#env, ...this.#folderVariables(folder) },
      user,
      processesMax: runnerUid === null ? null : slots * PROCESSES_PER_SLOT + PROCESSES_BESIDES,
      memory: memoryMb === null ? null : new MemoryLimit(memoryMb, tag, group, this.#watch),
      closed: this.#closed,
      shell: this.#shell,
      watchdog,
      clock,
      log,
    });
  }

  /** If the kernel refuses a group it once allowed, the watch still holds the limit. */
  #group(member: number, memoryMb: number): MemoryGroup | null {
    try {
      return this.#groups?.make(String(member), memoryMb * 1_048_576) ?? null;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'no control group for a job; its memory is watched');
      return null;
    }
  }

  /** The home of another user than ours is not where our variables say. */
  #folderVariables(folder: string): Record<string, string> {
    const own = { TMPDIR: folder, TEMP: folder, TMP: folder };
    return this.#hasUser ? { ...own, HOME: folder } : own;
  }

  get #hasUser(): boolean {
    return this.#options.runnerUid !== null || this.#options.runnerGid !== null;
  }

  #refuseForeignUser(): void {
    if (!this.#hasUser || process.getuid?.() === 0) return;
    throw new StartRefusal(
      'configuration',
      'LONGSHORE_RUNNER_UID and LONGSHORE_RUNNER_GID need a worker that runs as root, ' +
        'because only root may start a process as another user: unset them, or start it as root',
    );
  }
}

/** Hands a file or folder to the user that the jobs run as. */
export function giveAway(path: string, { uid, gid }: { uid?: number; gid?: number }): void {
  if (uid === undefined && gid === undefined) return;
  chownSync(path, uid ?? process.getuid?.() ?? 0, gid ?? process.getgid?.() ?? 0);
}
