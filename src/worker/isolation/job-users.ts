import { readFileSync } from 'node:fs';
import {
  AUTO_RANGES,
  blocksOf,
  parseAccounts,
  parseIdMap,
  type UidSetting,
} from '../../core/job-uids.ts';
import { NOBODY_UID, POSTGRES_UID, type UidRange } from '../../core/machine-users.ts';
import type { Log } from '../../runtime/log.ts';
import type { User } from '../../runtime/run-as.ts';
import { UidLock } from '../../runtime/uid-lock.ts';
import { endUser, processesOfUsers } from '../../runtime/user-processes.ts';
import { removeStrayFiles } from './stray-files.ts';

/** What it takes to run and end jobs as other users; the bits are those of capability.h. */
export const CAPABILITIES_FOR_USERS = [
  { name: 'CHOWN', bit: 0 },
  { name: 'KILL', bit: 5 },
  { name: 'SETGID', bit: 6 },
  { name: 'SETUID', bit: 7 },
] as const;
/** Ids are cleaned in batches, so that a look at the shared folders serves many of them. */
const PER_RUNNER = 2;

/** Why this worker cannot run jobs as users of their own; null when it can. */
export function whyNoUsers(): string | null {
  if (process.getuid?.() !== 0) return 'the worker is not root';
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(read('/proc/self/status'))?.[1];
  const held = BigInt(`0x${effective ?? '0'}`);
  if (CAPABILITIES_FOR_USERS.some(({ bit }) => ((held >> BigInt(bit)) & 1n) === 0n)) {
    return 'the worker is root without the capabilities SETUID, SETGID, CHOWN and KILL';
  }
  return null;
}

export interface JobUsersOptions {
  setting: Exclude<UidSetting, 'none'>;
  /** How many processes of jobs there may be at once. */
  runners: number;
  /** Ids that belong to something else, such as the embedded PostgreSQL. */
  reserved?: readonly number[];
  log: Log;
}

/**
 * A user id for each process of a job: no two that live at the same time share one, on the whole
 * machine, and one that was used is used again only when nothing of it is left, neither a process
 * nor a file in the folders that all users share.
 */
export class JobUsers {
  /** All of them, free or not. */
  readonly ids: readonly number[];
  readonly #free: number[];
  readonly #used = new Set<number>();
  readonly #locks: readonly UidLock[];
  readonly #log: Log;
  #cleaning: Promise<void> | null = null;

  private constructor(ids: number[], locks: readonly UidLock[], log: Log) {
    this.ids = ids;
    this.#free = [...ids];
    this.#locks = locks;
    this.#log = log;
  }

  /** Throws with a sentence when there are too few ids. What an earlier worker left is ended here. */
  static async claim({ setting, runners, reserved = [], log }: JobUsersOptions): Promise<JobUsers> {
    const ranges = setting === 'auto' ? AUTO_RANGES : [setting];
    const needed = PER_RUNNER * runners;
    const why: string[] = [];
    for (const range of ranges) {
      const { ids, locks } = await lockIds(range, needed, reserved);
      if (ids.length >= needed) {
        await endAll(ids);
        const dirty = await removeStrayFiles(new Set(ids));
        return new JobUsers(
          ids.filter((id) => !dirty.has(id)),
          locks,
          log,
        );
      }
      for (const lock of locks) lock.release();
      why.push(`${range.first}-${range.last} has ${ids.length} of ${needed}`);
    }
    throw new Error(
      `too few user ids are free for the processes of jobs (${why.join('; ')}): ` +
        'give a larger range with LONGSHORE_RUNNER_UIDS',
    );
  }

  get descriptors(): number[] {
    return this.#locks.flatMap(({ descriptor }) => descriptor ?? []);
  }

  acquire(): User {
    const uid = this.#free.shift();
    if (uid === undefined) throw new Error('no user id is free for a process of a job');
    return { uid, gid: uid };
  }

  /** Its processes are gone, and so is its folder. */
  release({ uid }: User): void {
    this.#used.add(uid);
    if (this.#free.length >= this.ids.length / 2) return;
    this.#cleaning ??= this.#clean().finally(() => (this.#cleaning = null));
  }

  async close(): Promise<void> {
    await this.#cleaning;
    // Nobody runs under these any more.
    await removeStrayFiles(new Set(this.ids));
    for (const lock of this.#locks) lock.release();
  }

  async #clean(): Promise<void> {
    const uids = [...this.#used];
    this.#used.clear();
    try {
      const dirty = await removeStrayFiles(new Set(uids));
      this.#free.push(...uids.filter((uid) => !dirty.has(uid)));
      for (const uid of dirty) this.#log.warn({ uid }, 'files of a job could not be removed');
    } catch (error) {
      this.#log.error({ err: error }, 'user ids of jobs could not be cleaned');
    }
  }
}

async function lockIds(
  range: UidRange,
  needed: number,
  reserved: readonly number[],
): Promise<{ ids: number[]; locks: UidLock[] }> {
  const users = parseAccounts(read('/etc/passwd'));
  const groups = parseAccounts(read('/etc/group'));
  const foreign = [NOBODY_UID, POSTGRES_UID, ...reserved];
  const isTaken = (id: number) => users.has(id) || groups.has(id) || foreign.includes(id);
  // An id serves as user and as group, so both maps must have it.
  const inGroups = parseIdMap(read('/proc/self/gid_map'));
  const mapped = parseIdMap(read('/proc/self/uid_map'));
  const unmapped = (id: number) => !inGroups.some(({ first, last }) => id >= first && id <= last);
  const ids: number[] = [];
  const locks: UidLock[] = [];
  for (const block of blocksOf(range, mapped, (id) => isTaken(id) || unmapped(id))) {
    if (ids.length >= needed) break;
    const lock = await UidLock.take(block.start);
    if (!lock) continue;
    locks.push(lock);
    ids.push(...block.ids);
  }
  return { ids, locks };
}

/** The lock is ours, so whoever runs under these ids was left by a worker that is gone. */
async function endAll(ids: readonly number[]): Promise<void> {
  const ours = new Set(ids);
  const left = new Set((await processesOfUsers((uid) => ours.has(uid))).values());
  for (const uid of left) await endUser({ uid, gid: uid });
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
