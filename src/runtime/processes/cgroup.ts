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
import { type CgroupParent, cgroupParents, type Controller, readText } from './cgroup-parents.ts';
import { sleep } from '../deadline.ts';

/**
 * Control groups, for limits on a process with all that it starts: its memory, and how many processes
 * and threads it may have. A worker makes a group of its own and in it one for each runner. Version 1
 * and 2 of the kernel's interface differ in the names of files, in where a group may be made, and in
 * that version 1 has a tree for each controller; the rest is the same.
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
  const groups = ControlGroups.create(`longshore-probe-${process.pid}`);
  const method = groups?.method ?? 'rlimit and RSS watch';
  for (const path of groups?.paths ?? []) tryRemove(path);
  return method;
}

/** A group of the worker in one tree, and what it is for. */
interface Root {
  path: string;
  version: 1 | 2;
  controllers: readonly Controller[];
}

export interface GroupLimits {
  memoryBytes: number | null;
  /** Processes and threads together. */
  processesMax: number;
}

/** The groups of a worker, which hold those of its runners. */
export class ControlGroups {
  readonly #roots: readonly Root[];

  private constructor(roots: readonly Root[]) {
    this.#roots = roots;
  }

  /** Null where we may not make groups. */
  static create(name: string): ControlGroups | null {
    const memory = rootFor('memory', name);
    // In version 2 one group serves both, if it can.
    const alsoPids = memory?.version === 2 && handsDown(memory.path, 'pids');
    if (memory && alsoPids) {
      return new ControlGroups([{ ...memory, controllers: ['memory', 'pids'] }]);
    }
    const pids = rootFor('pids', name);
    const roots = [memory, pids].filter((root) => root !== null);
    return roots.length === 0 ? null : new ControlGroups(roots);
  }

  get method(): MemoryMethod {
    const memory = this.#roots.find(({ controllers }) => controllers.includes('memory'));
    return memory ? `cgroup v${memory.version}` : 'rlimit and RSS watch';
  }

  get paths(): string[] {
    return this.#roots.map(({ path }) => path);
  }

  /** Throws when the kernel refuses. */
  make(name: string, limits: GroupLimits): RunnerGroup {
    const made: Root[] = [];
    try {
      for (const root of this.#roots) {
        const path = join(root.path, name);
        mkdirSync(path);
        made.push({ ...root, path });
      }
      return new RunnerGroup(made, limits);
    } catch (error) {
      for (const { path } of made) rmdirSync(path);
      throw error;
    }
  }

  async remove(): Promise<void> {
    for (const path of this.paths) await removeGroups(path);
  }
}

/** The group of one runner: a folder in each tree. */
export class RunnerGroup {
  readonly #parts: readonly Root[];
  readonly #memory: Root | null;

  constructor(parts: readonly Root[], { memoryBytes, processesMax }: GroupLimits) {
    this.#parts = parts;
    this.#memory = parts.find(({ controllers }) => controllers.includes('memory')) ?? null;
    const pids = parts.find(({ controllers }) => controllers.includes('pids'));
    if (pids) write(pids, 'pids.max', processesMax);
    if (this.#memory && memoryBytes !== null) limitMemory(this.#memory, memoryBytes);
  }

  /** Whether a limit on memory is held by it. */
  get limitsMemory(): boolean {
    return this.#memory !== null;
  }

  join(pid: number): void {
    for (const part of this.#parts) write(part, 'cgroup.procs', pid);
  }

  /** From now on no process in it can start another, so that none gets away from those who end them. */
  forbidForks(): void {
    const pids = this.#parts.find(({ controllers }) => controllers.includes('pids'));
    try {
      if (pids) write(pids, 'pids.max', 0);
    } catch {
      // They are ended all the same, in more rounds.
    }
  }

  /** Whether no process is in it. */
  get isEmpty(): boolean {
    return this.#parts.every(({ path }) => readText(join(path, 'cgroup.procs')).trim() === '');
  }

  /** Null where the kernel does not tell (version 2 before Linux 5.19). */
  get peakBytes(): number | null {
    if (!this.#memory) return null;
    const { path, version } = this.#memory;
    return readNumber(join(path, FILES[version].peak), /^(\d+)/);
  }

  /** Whether the kernel has killed somebody in it for want of memory. */
  get exceeded(): boolean {
    if (!this.#memory) return false;
    const { path, version } = this.#memory;
    return (readNumber(join(path, FILES[version].events), /^oom_kill (\d+)/m) ?? 0) > 0;
  }

  /** With everybody who is left in it. */
  async remove(): Promise<void> {
    for (const { path } of this.#parts) await removeGroups(path);
  }
}

function limitMemory(group: Root, limitBytes: number): void {
  const { version } = group;
  write(group, FILES[version].limit, limitBytes);
  try {
    // A machine that swaps would only be slower at running out.
    write(group, FILES[version].swap, version === 1 ? limitBytes : 0);
    // One of them killed alone would leave the others waiting for it.
    if (version === 2) write(group, 'memory.oom.group', 1);
  } catch {
    // Kernels without swap accounting have no such file.
  }
}

function write({ path }: Root, file: string, value: number): void {
  writeFileSync(join(path, file), String(value));
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

/** The worker's group for a controller, at the first place where it can be made. */
function rootFor(controller: Controller, name: string): Root | null {
  const parent = cgroupParents(controller).find((one) => canHold(one, controller, name));
  if (!parent) return null;
  return { path: join(parent.base, name), version: parent.version, controllers: [controller] };
}

/** Makes the worker's group there, if that can be done and would be of use. */
function canHold({ base, version }: CgroupParent, controller: Controller, name: string): boolean {
  const path = join(base, name);
  if (version === 2 && !handsDown(base, controller)) return false;
  try {
    mkdirSync(path);
  } catch {
    return false;
  }
  try {
    if (version === 1) accessSync(join(path, LIMIT_FILE[controller]), constants.W_OK);
    // Whoever moves a process must be allowed to do so in the group that both places share.
    accessSync(join(base, 'cgroup.procs'), constants.W_OK);
    if (version === 1 || handsDown(path, controller)) return true;
  } catch {
    // It is of no use, then.
  }
  tryRemove(path);
  return false;
}

const LIMIT_FILE: Record<Controller, string> = { memory: FILES[1].limit, pids: 'pids.max' };

/** In version 2 a group has a controller only when the one above hands it down. */
function handsDown(path: string, controller: Controller): boolean {
  const file = join(path, 'cgroup.subtree_control');
  try {
    const handed = readFileSync(file, 'utf8').trim().split(/\s+/);
    if (!handed.includes(controller)) writeFileSync(file, `+${controller}`);
    return true;
  } catch {
    return false;
  }
}

function readNumber(file: string, pattern: RegExp): number | null {
  const digits = pattern.exec(readText(file))?.[1];
  return digits === undefined ? null : Number(digits);
}
