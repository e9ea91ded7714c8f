import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AUTO_RANGES,
  blocksOf,
  parseAccounts,
  parseIdMap,
  rotated,
  type UidSetting,
} from '../../core/access/job-uids.ts';
import { NOBODY_UID, POSTGRES_UID, type UidRange } from '../../core/access/machine-users.ts';
import type { Log } from '../../runtime/log.ts';
import {
  ownNetworkNamespace,
  usersOfOtherNetworks,
} from '../../runtime/processes/network-namespace.ts';
import type { User } from '../../runtime/processes/run-as.ts';
import { removeFolder } from '../../runtime/processes/remove-folder.ts';
import { UidLock } from '../../runtime/processes/uid-lock.ts';
import { endSquatters } from '../../runtime/processes/uid-squatters.ts';
import { endUser, processesOfUsers } from '../../runtime/processes/user-processes.ts';
import { openTrees, removeStrayFiles } from './stray-files.ts';

/** The capabilities needed to run and end jobs as other users; bits of capability.h. */
export const CAPABILITIES_FOR_USERS = [
  { name: 'CHOWN', bit: 0 },
  { name: 'KILL', bit: 5 },
  { name: 'SETGID', bit: 6 },
  { name: 'SETUID', bit: 7 },
] as const;
/** Ids are cleaned in batches, so that one scan of the shared folders serves many. */
const PER_RUNNER = 2;
/** A killed process releases its sockets a little later. */
const TAKE_TRIES = 20;
const TAKE_AGAIN_MS = 10;

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
  /** The most job processes at a time. */
  runners: number;
  /** Ids used by something else, such as the embedded PostgreSQL. */
  reserved?: readonly number[];
  log: Log;
}

/** Other processes hold the ids that this worker needs, so it must not start. */
export class UidsTaken extends Error {
  override name = 'UidsTaken';
}

/**
 * One user id per job process: no two live processes of the machine share one, and an id is reused
 * only when nothing of it is left, neither a process nor a file in shared folders.
 */
export class JobUsers {
  /** All ids, free or not. */
  readonly ids: readonly number[];
  readonly #free: number[];
  /** Used ids, with the folder that could not be removed. */
  readonly #used = new Map<number, string | null>();
  readonly #locks: readonly UidLock[];
  readonly #log: Log;
  #cleaning: Promise<void> | null = null;

  private constructor(ids: number[], locks: readonly UidLock[], log: Log) {
    this.ids = ids;
    this.#free = [...ids];
    this.#locks = locks;
    this.#log = log;
  }

  /** Throws when there are too few ids. Ends what an earlier worker left. */
  static async claim({ setting, runners, reserved = [], log }: JobUsersOptions): Promise<JobUsers> {
    const ranges = setting === 'auto' ? AUTO_RANGES : [setting];
    const needed = PER_RUNNER * runners;
    const why: string[] = [];
    let taken = false;
    for (const range of ranges) {
      const { ids, locks, refused } = await lockIds(range, needed, reserved);
      taken ||= refused.length > 0;
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
    const message =
      `too few user ids are free for the processes of jobs (${why.join('; ')}): ` +
      'give a larger range with LONGSHORE_RUNNER_UIDS';
    throw taken ? new UidsTaken(message) : new Error(message);
  }

  get descriptors(): number[] {
    return this.#locks.flatMap(({ descriptor }) => descriptor ?? []);
  }

  acquire(): User {
    const uid = this.#free.shift();
    if (uid === undefined) {
      this.#beginCleaning();
      throw new Error('no free user id for a job process');
    }
    return { uid, gid: uid };
  }

  /** Its processes are gone, and so is its folder, unless it could not be removed. */
  release({ uid }: User, leftFolder: string | null): void {
    this.#used.set(uid, leftFolder);
    if (this.#free.length < this.ids.length / 2) this.#beginCleaning();
  }

  async close(): Promise<void> {
    await this.#cleaning;
    await this.#clean();
    // No job runs under these ids any more.
    await removeStrayFiles(new Set(this.ids));
    for (const lock of this.#locks) lock.release();
  }

  #beginCleaning(): void {
    this.#cleaning ??= this.#clean().finally(() => (this.#cleaning = null));
  }

  /** An id with remains, possibly mixed with files of a running job, is retried later. */
  async #clean(): Promise<void> {
    const used = new Map(this.#used);
    const uids = new Set(used.keys());
    this.#used.clear();
    try {
      const folders = [...used].filter((entry): entry is [number, string] => entry[1] !== null);
      await openTrees(
        folders.map(([, folder]) => folder),
        uids,
      );
      const left = new Set<number>();
      for (const [uid, folder] of folders) {
        await removeFolder(folder, { uid, gid: uid }).catch(() => left.add(uid));
      }
      const dirty = await removeStrayFiles(uids);
      for (const [uid, folder] of used) {
        if (!left.has(uid) && !dirty.has(uid)) this.#free.push(uid);
        else {
          this.#used.set(uid, left.has(uid) ? folder : null);
          this.#log.warn({ uid }, 'cannot remove files of a job');
        }
      }
    } catch (error) {
      for (const [uid, folder] of used) this.#used.set(uid, folder);
      this.#log.error({ err: error }, 'cannot clean up user ids of jobs');
    }
  }
}

async function lockIds(
  range: UidRange,
  needed: number,
  reserved: readonly number[],
): Promise<{ ids: number[]; locks: UidLock[]; refused: Block[] }> {
  const users = parseAccounts(read('/etc/passwd'));
  const groups = parseAccounts(read('/etc/group'));
  const foreign = [NOBODY_UID, POSTGRES_UID, ...reserved];
  const isTaken = (id: number) => users.has(id) || groups.has(id) || foreign.includes(id);
  // An id is used as user and group, so both maps must have it.
  const inGroups = parseIdMap(read('/proc/self/gid_map'));
  const mapped = parseIdMap(read('/proc/self/uid_map'));
  const unmapped = (id: number) => !inGroups.some(({ first, last }) => id >= first && id <= last);
  const ids: number[] = [];
  const locks: UidLock[] = [];
  const lockAll = async (blocks: readonly Block[], take: (block: Block) => Promise<Taken>) => {
    const refused: Block[] = [];
    for (const block of blocks) {
      if (ids.length >= needed) break;
      const lock = await take(block);
      if (lock) {
        locks.push(lock);
        ids.push(...block.ids);
      } else {
        refused.push(block);
      }
    }
    return refused;
  };
  const all = blocksOf(range, mapped, (id) => isTaken(id) || unmapped(id));
  // Locks are names in a network namespace. The processes of a worker in another one are visible,
  // its locks are not.
  const elsewhere = await usersOfOtherNetworks((id) => id >= range.first && id <= range.last);
  const usedElsewhere = all.filter((block) => block.ids.some((id) => elsewhere.has(id)));
  const others = all.filter((block) => !usedElsewhere.includes(block));
  const blocks = rotated(others, ownNetworkNamespace());
  const held = await lockAll(blocks, async ({ start }) => await UidLock.take(start));
  if (ids.length >= needed || !(await endHolders(held, range))) {
    return { ids, locks, refused: [...held, ...usedElsewhere] };
  }
  const refused = await lockAll(held, async ({ start }) => await takeSoon(start));
  return { ids, locks, refused: [...refused, ...usedElsewhere] };
}

type Block = { start: number; ids: number[] };
type Taken = UidLock | null;

/** Ends jobs that hold locks, which they have no right to; false when there are none. */
async function endHolders(held: readonly Block[], range: UidRange): Promise<boolean> {
  const ranges = [range, ...AUTO_RANGES];
  const isRunner = (uid: number) => ranges.some(({ first, last }) => uid >= first && uid <= last);
  const names = held.map(({ start }) => UidLock.socketName(start));
  return await endSquatters(names, isRunner);
}

async function takeSoon(start: number): Promise<Taken> {
  for (let tries = 0; tries < TAKE_TRIES; tries += 1) {
    const lock = await UidLock.take(start);
    if (lock) return lock;
    await pause(TAKE_AGAIN_MS);
  }
  return null;
}

/** The lock is ours, so all processes with these ids were left by a dead worker. */
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
