import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

/**
 * A name tag that a process cannot lose. What a job starts can leave its process group and session
 * (`setsid`), its parent (a double fork) and its environment (`env -i`), so none of these tells whose
 * it is. What stays is RLIMIT_RSS: Linux hands it on to every child and through every exec, has done
 * nothing with it since 2.4.30, and shows it to everybody in `/proc/PID/limits`. So each runner is
 * started with a limit that no other process has, far above the memory of any machine, and whoever
 * carries the same number came from it. A process can lower its limit, but without CAP_SYS_RESOURCE
 * it cannot go back to none, which every ordinary process has. So one that took its number off is
 * known by having another one, together with `no_new_privs`, which nothing takes off either.
 *
 * Where jobs have users of their own, they are found by these instead (`user-processes.ts`).
 *
 * A tag is a *family*, one per worker and drawn at random, and a *member*, one per runner: when the
 * worker is gone, its watchdog finds all of its runners without having been told of each.
 *
 * Where there is no `/proc`, nobody is ever found, and a kill reaches the process group only.
 */

const MEMBERS = 2 ** 32;
const FAMILIES = 2 ** 21;

/** In KiB, as `ulimit -m` takes it: at least 4 TB, and below 2^53, so that numbers stay exact. */
export type NameTag = number;

export function newFamily(random: number): number {
  return 1 + Math.floor(random * (FAMILIES - 1));
}

export function tagOf(family: number, member: number): NameTag {
  return family * MEMBERS + (member % MEMBERS);
}

export function familyOf(tag: NameTag): number {
  return Math.floor(tag / MEMBERS);
}

const LINE = 'Max resident set';
const buffer = Buffer.alloc(2_048);

/** Null when the process is gone, a zombie, or carries none. */
export function readTag(pid: number): NameTag | null {
  try {
    const limits = readShort(`/proc/${pid}/limits`);
    const tag = tagIn(limits) ?? (isLowered(limits) && isOurs(pid) ? TAKEN_OFF : null);
    // Only of those who carry one it matters whether they still live.
    return tag === null || isZombie(readShort(`/proc/${pid}/stat`)) ? null : tag;
  } catch {
    return null;
  }
}

/** The field of `/proc/PID/stat`, counted from the state, that says how many threads there are. */
const THREADS_FIELD = 17;

/** One whose first thread has ended looks like one, but its other threads go on. */
export function isZombie(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return /^[ZX]/.test(fields[0] ?? '') && !(Number(fields[THREADS_FIELD]) > 1);
}

/** Much quicker than `readFileSync`, and it is done for every process of the machine. */
function readShort(path: string): string {
  const file = openSync(path, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}

/** Stands for the tag of a process that has taken its own off. */
export const TAKEN_OFF: NameTag = 0;

/** The hard limit counts: the soft one can be changed at will. */
export function tagIn(limits: string): NameTag | null {
  const tag = Number(hardLimitIn(limits)) / 1_024;
  return Number.isInteger(tag) && tag >= MEMBERS && tag < FAMILIES * MEMBERS ? tag : null;
}

function hardLimitIn(limits: string): string {
  const at = limits.indexOf(LINE);
  if (at < 0) return '';
  return (
    limits
      .slice(at + LINE.length)
      .trim()
      .split(/\s+/, 2)[1] ?? ''
  );
}

function isLowered(limits: string): boolean {
  return /^\d+$/.test(hardLimitIn(limits)) && !ownLimitIsLowered();
}

let ownIsLowered: boolean | undefined;

/** Where the system gives every process such a limit, it tells nothing. */
function ownLimitIsLowered(): boolean {
  ownIsLowered ??= /^\d+$/.test(hardLimitIn(readShort('/proc/self/limits')));
  return ownIsLowered;
}

function isOurs(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
  return uid === process.getuid?.() && /^NoNewPrivs:\s+1/m.test(status);
}

/** Longer than this nobody else waits for a look at a machine with very many processes. */
const READS_PER_BREATH = 200;

/**
 * The processes whose tag is wanted. With `after`, only numbers given out since that one are looked
 * at, which is much cheaper and right as long as the numbers cannot have gone round meanwhile.
 */
export async function findTagged(
  wanted: (tag: NameTag) => boolean,
  after: number | null = null,
): Promise<Map<number, NameTag>> {
  const found = new Map<number, NameTag>();
  let reads = 0;
  for (const pid of processNumbers(after)) {
    const tag = readTag(pid);
    if (tag !== null && wanted(tag)) found.set(pid, tag);
    reads += 1;
    if (reads % READS_PER_BREATH === 0) await breathe();
  }
  return found;
}

function processNumbers(after: number | null): number[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const numbers = pids.map(Number);
    if (after === null) return numbers;
    const last = Number(readFileSync('/proc/loadavg', 'utf8').split(' ').at(-1));
    // Numbers begin again from below once the highest one was given out.
    if (last >= after) return numbers.filter((pid) => pid > after && pid <= last);
    return numbers.filter((pid) => pid > after || pid <= last);
  } catch {
    return [];
  }
}
