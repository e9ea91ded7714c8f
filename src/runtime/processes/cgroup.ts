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
 * Control groups: limits for a process and its children, on memory and on the number of processes
 * and threads. A worker creates a group of its own and in it one per runner. Versions 1 and 2
 * differ in file names and in where a group may be created, and version 1 has a tree per
 * controller.
 */

interface Files {
  limit: string;
  /** Memory plus swap in version 1, swap alone in version 2. */
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

/** How memory is limited on this machine, for `doctor`. Determined by trying. */
export function memoryMethod(): MemoryMethod {
  const groups = ControlGroups.create(`longshore-probe-${process.pid}`);
  const method = groups?.method ?? 'rlimit and RSS watch';
  for (const path of groups?.paths ?? []) tryRemove(path);
  return method;
}

/** The worker's group in one tree, and its controllers. */
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

/** The groups of a worker, which contain those of its runners. */
export class ControlGroups {
  readonly #roots: readonly Root[];

  private constructor(roots: readonly Root[]) {
    this.#roots = roots;
  }

  /** Null when this process may not create groups. */
  static create(name: string): ControlGroups | null {
    const memory = rootFor('memory', name);
    // In version 2 one group can serve both.
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

  /** Whether it enforces a memory limit. */
  get limitsMemory(): boolean {
    return this.#memory !== null;
  }

  join(pid: number): void {
    for (const part of this.#parts) write(part, 'cgroup.procs', pid);
  }

  /** Forbids forks in the group, so that no process escapes the kill. */
  forbidForks(): void {
    const pids = this.#parts.find(({ controllers }) => controllers.includes('pids'));
    try {
      if (pids) write(pids, 'pids.max', 0);
    } catch {
      // Without the limit the kill takes more rounds.
    }
  }

  /** Whether the group has no processes. */
  get isEmpty(): boolean {
    return this.#parts.every(({ path }) => readText(join(path, 'cgroup.procs')).trim() === '');
  }

  /** Null where the kernel does not report it (version 2 before Linux 5.19). */
  get peakBytes(): number | null {
    if (!this.#memory) return null;
    const { path, version } = this.#memory;
    return readNumber(join(path, FILES[version].peak), /^(\d+)/);
  }

  /** Whether the kernel has killed a process of the group for lack of memory. */
  get exceeded(): boolean {
    if (!this.#memory) return false;
    const { path, version } = this.#memory;
    return (readNumber(join(path, FILES[version].events), /^oom_kill (\d+)/m) ?? 0) > 0;
  }

  /** Kills the processes that are left and removes the group. */
  async remove(): Promise<void> {
    for (const { path } of this.#parts) await removeGroups(path);
  }
}

function limitMemory(group: Root, limitBytes: number): void {
  const { version } = group;
  write(group, FILES[version].limit, limitBytes);
  try {
    // Swap would only delay the kill.
    write(group, FILES[version].swap, version === 1 ? limitBytes : 0);
    // Kill the whole group: a single kill would leave the others waiting.
    if (version === 2) write(group, 'memory.oom.group', 1);
  } catch {
    // Kernels without swap accounting do not have this file.
  }
}

function write({ path }: Root, file: string, value: number): void {
  writeFileSync(join(path, file), String(value));
}

const REMOVE_TRIES = 200;
const REMOVE_PAUSE_MS = 5;

/** Kills the processes of a group and its subgroups, and removes all groups. Never throws. */
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
        // It has exited meanwhile.
      }
    }
  }
}

/** A group can be removed when it has no processes, dying ones included. */
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

/** The worker's group for a controller, in the first parent where it can be created. */
function rootFor(controller: Controller, name: string): Root | null {
  const parent = cgroupParents(controller).find((one) => canHold(one, controller, name));
  if (!parent) return null;
  return { path: join(parent.base, name), version: parent.version, controllers: [controller] };
}

/** Creates the worker's group there, if possible and useful. */
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
    // Moving a process needs write access in the common ancestor group.
    accessSync(join(base, 'cgroup.procs'), constants.W_OK);
    if (version === 1 || handsDown(path, controller)) return true;
  } catch {
    // This parent cannot be used.
  }
  tryRemove(path);
  return false;
}

const LIMIT_FILE: Record<Controller, string> = { memory: FILES[1].limit, pids: 'pids.max' };

/** In version 2 a group has a controller only when its parent delegates it. */
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
