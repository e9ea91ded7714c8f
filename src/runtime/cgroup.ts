import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type CgroupPlace, cgroupPlaces, readText } from './cgroup-places.ts';
import { sleep } from './deadline.ts';

/**
 * Control groups, for a limit on the memory of a process with all that it starts. A worker makes one
 * group of its own and in it one for each runner that has a limit. Version 1 and 2 of the kernel's
 * interface differ in the names of files and in where a group may be made; the rest is the same.
 */

interface Files {
  limit: string;
  /** Memory and swap together in version 1, swap alone in version 2. */
  swap: string;
  peak: string;
  /** Has a line `oom_kill N` in both versions. */
  events: string;
}

const FILES: Record<1 | 2, Files> = {
  1: {
    limit: 'memory.limit_in_bytes',
    swap: 'memory.memsw.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    events: 'memory.oom_control',
  },
  2: {
    limit: 'memory.max',
    swap: 'memory.swap.max',
    peak: 'memory.peak',
    events: 'memory.events',
  },
};

export type MemoryMethod = 'cgroup v2' | 'cgroup v1' | 'rlimit and RSS watch';

/** How memory is limited on this machine, for `doctor`. Found out by trying. */
export function memoryMethod(): MemoryMethod {
  const groups = MemoryGroups.create(`longshore-probe-${process.pid}`);
  if (!groups) return 'rlimit and RSS watch';
  tryRemove(groups.path);
  return groups.method;
}

/** The group of a worker, which holds those of its runners. */
export class MemoryGroups {
  readonly path: string;
  readonly #version: 1 | 2;

  private constructor(path: string, version: 1 | 2) {
    this.path = path;
    this.#version = version;
  }

  /** Null where we may not make groups. */
  static create(name: string): MemoryGroups | null {
    const place = cgroupPlaces().find((one) => canHold(one, name));
    return place ? new MemoryGroups(join(place.base, name), place.version) : null;
  }

  get method(): MemoryMethod {
    return `cgroup v${this.#version}`;
  }

  /** Throws when the kernel refuses. */
  make(name: string, limitBytes: number): MemoryGroup {
    const path = join(this.path, name);
    mkdirSync(path);
    try {
      return new MemoryGroup(path, this.#version, limitBytes);
    } catch (error) {
      rmdirSync(path);
      throw error;
    }
  }

  async remove(): Promise<void> {
    await removeGroups(this.path);
  }
}

/** The group of one runner. */
export class MemoryGroup {
  readonly #path: string;
  readonly #files: Files;

  constructor(path: string, version: 1 | 2, limitBytes: number) {
    this.#path = path;
    this.#files = FILES[version];
    this.#write(this.#files.limit, limitBytes);
    try {
      // A machine that swaps would only be slower at running out.
      this.#write(this.#files.swap, version === 1 ? limitBytes : 0);
      // One of them killed alone would leave the others waiting for it.
      if (version === 2) this.#write('memory.oom.group', 1);
    } catch {
      // Kernels without swap accounting have no such file.
    }
  }

  join(pid: number): void {
    this.#write('cgroup.procs', pid);
  }

  /** Null where the kernel does not tell (version 2 before Linux 5.19). */
  get peakBytes(): number | null {
    return readNumber(join(this.#path, this.#files.peak), /^(\d+)/);
  }

  /** Whether the kernel has killed somebody in it for want of memory. */
  get exceeded(): boolean {
    return (readNumber(join(this.#path, this.#files.events), /^oom_kill (\d+)/m) ?? 0) > 0;
  }

  /** With everybody who is left in it. */
  async remove(): Promise<void> {
    await removeGroups(this.#path);
  }

  #write(file: string, value: number): void {
    writeFileSync(join(this.#path, file), String(value));
  }
}

const REMOVE_TRIES = 200;
const REMOVE_PAUSE_MS = 5;

/** Ends who is left in a group and in those below it, and removes them all. Never throws. */
export async function removeGroups(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES && !tryRemove(path); tries += 1) {
    for (const group of [...childGroups(path), path]) killMembers(group);
    await sleep(REMOVE_PAUSE_MS);
  }
}

/** At once where the kernel can (`cgroup.kill`, version 2 since Linux 5.14), else one by one. */
function killMembers(path: string): void {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1', { flag: 'r+' });
  } catch {
    for (const pid of readText(join(path, 'cgroup.procs')).split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

/** A group can be removed when nobody is in it, the dying included. */
function tryRemove(path: string): boolean {
  try {
    for (const child of childGroups(path)) rmdirSync(child);
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function childGroups(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  } catch {
    return [];
  }
}

/** Makes the worker's group there, if that can be done and would be of use. */
function canHold({ base, version }: CgroupPlace, name: string): boolean {
  const path = join(base, name);
  try {
    if (version === 2) handDownMemory(base);
    mkdirSync(path);
  } catch {
    return false;
  }
  try {
    if (version === 2) handDownMemory(path);
    else accessSync(join(path, FILES[1].limit), constants.W_OK);
    // Whoever moves a process must be allowed to do so in the group that both places share.
    accessSync(join(base, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    tryRemove(path);
    return false;
  }
}

/** In version 2 a group has a controller only when the one above hands it down. */
function handDownMemory(path: string): void {
  const file = join(path, 'cgroup.subtree_control');
  if (!/\bmemory\b/.test(readFileSync(file, 'utf8'))) writeFileSync(file, '+memory');
}

function readNumber(file: string, pattern: RegExp): number | null {
  const digits = pattern.exec(readText(file))?.[1];
  return digits === undefined ? null : Number(digits);
}
