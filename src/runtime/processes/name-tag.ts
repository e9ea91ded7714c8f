import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

/**
 * A tag that a process cannot remove. What a job starts can leave its process group and session
 * (`setsid`), its parent (a double fork) and its environment (`env -i`). What stays is RLIMIT_RSS:
 * Linux passes it on to every child and through every exec, has ignored its value since 2.4.30, and
 * shows it in `/proc/PID/limits`. So each runner starts with a unique limit, far above the memory
 * of any machine, and all processes with that number came from it. A process can lower its limit,
 * but without CAP_SYS_RESOURCE it cannot remove it. So a process that changed its tag is recognized
 * by a different limit together with `no_new_privs`, which cannot be removed either.
 *
 * Where jobs have users of their own, processes are found by uid instead (`user-processes.ts`).
 *
 * A tag is a *family*, one per worker and random, and a *member*, one per runner: when the worker
 * is gone, its watchdog finds all of its runners.
 *
 * Without `/proc` no process is found, and a kill reaches the process group only.
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

/** Null when the process is gone, a zombie, or has no tag. */
export function readTag(pid: number): NameTag | null {
  try {
    const limits = readShort(`/proc/${pid}/limits`);
    const tag = tagIn(limits) ?? (isLowered(limits) && isOurs(pid) ? TAKEN_OFF : null);
    // Check for a zombie only when the process has a tag.
    return tag === null || isZombie(readShort(`/proc/${pid}/stat`)) ? null : tag;
  } catch {
    return null;
  }
}

/** The field of `/proc/PID/stat`, counted from the state, with the number of threads. */
const THREADS_FIELD = 17;

/** A process whose first thread has ended looks like a zombie, but its other threads go on. */
export function isZombie(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return /^[ZX]/.test(fields[0] ?? '') && !(Number(fields[THREADS_FIELD]) > 1);
}

/** Much faster than `readFileSync`; it runs for every process of the machine. */
function readShort(path: string): string {
  const file = openSync(path, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}

/** Stands for the tag of a process that has changed its own. */
export const TAKEN_OFF: NameTag = 0;

/** Uses the hard limit: a process can change the soft one. */
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

/** Where the system gives every process such a limit, a lowered limit means nothing. */
function ownLimitIsLowered(): boolean {
  ownIsLowered ??= /^\d+$/.test(hardLimitIn(readShort('/proc/self/limits')));
  return ownIsLowered;
}

function isOurs(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
  return uid === process.getuid?.() && /^NoNewPrivs:\s+1/m.test(status);
}

/** Yields to the event loop after this many reads. */
const READS_PER_BREATH = 200;

/**
 * The processes with wanted tags. With `after`, only pids assigned since then are read, which is
 * much cheaper and correct as long as pids have not wrapped around.
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
    // Pids wrap around after the highest one.
    if (last >= after) return numbers.filter((pid) => pid > after && pid <= last);
    return numbers.filter((pid) => pid > after || pid <= last);
  } catch {
    return [];
  }
}
