import { channel } from 'node:diagnostics_channel';
import { openSync, readSync } from 'node:fs';
import type { Measured } from '../ipc.ts';

/**
 * Measures the usage of a job, and whether it started something that may outlive it. Node reports
 * started processes and threads, but not those of `execSync` etc.; these have been waited for, and
 * the kernel adds up the page faults of such children. So everything that a job starts from
 * JavaScript is noticed. (Native code that forks without waiting is not; what it leaves ends with
 * the runner.)
 */
let starts = 0;
for (const name of ['child_process', 'worker_threads']) {
  channel(name).subscribe(() => (starts += 1));
}

/** The prototypes that a job changes when it merges hostile params into an object. */
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype];
let inherited: number | undefined;

/** The number of inherited names; counted when the definitions are loaded and from then on. */
function inheritedNames(): number {
  return PROTOTYPES.reduce<number>((sum, one) => sum + Reflect.ownKeys(one).length, 0);
}

const home = process.cwd();
const PAGE_BYTES = 4_096;
const buffer = Buffer.alloc(1_024);
const stat = openStat();
let known = readStat();

/** CPU time that was rounded off counts with the next attempt, or tiny jobs would add up to nothing. */
let restUs = 0;

/**
 * The usage of one attempt in a process that runs many. The peak of the process belongs to the
 * attempt when it grew meanwhile; otherwise an earlier job made it, and only the current size is
 * known.
 */
export function measure(): () => Measured {
  const before = process.resourceUsage();
  inherited ??= inheritedNames();
  const startsBefore = starts;
  const cpuBefore = before.userCPUTime + before.systemCPUTime - restUs;
  return () => {
    const after = process.resourceUsage();
    const cpuUs = after.userCPUTime + after.systemCPUTime - cpuBefore;
    const cpuMs = Math.max(0, Math.round(cpuUs / 1_000));
    restUs = cpuUs - cpuMs * 1_000;
    const childFaults = known.childFaults;
    // A job that never waited has not waited for a child, which saves most tiny jobs this read.
    if (after.voluntaryContextSwitches > before.voluntaryContextSwitches) known = readStat();
    return {
      cpuMs,
      peakRssBytes: after.maxRSS > before.maxRSS ? after.maxRSS * 1_024 : known.rssBytes,
      spent:
        starts > startsBefore ||
        known.childFaults > childFaults ||
        hasMoved() ||
        inheritedNames() !== inherited,
    };
  };
}

/** Whether the working directory changed or is gone. */
function hasMoved(): boolean {
  try {
    return process.cwd() !== home;
  } catch {
    return true;
  }
}

/** Of a thread only the CPU time is its own. */
export function measureThread(): () => Measured {
  const startsBefore = starts;
  // Not available before Node 23.9.
  const cpu = process.threadCpuUsage?.();
  return () => {
    const used = cpu && process.threadCpuUsage(cpu);
    return {
      cpuMs: used ? Math.round((used.user + used.system) / 1_000) : null,
      peakRssBytes: null,
      spent: starts > startsBefore,
    };
  };
}

/** Kept open, because reading it again is cheap and opening it is not. */
function openStat(): number | null {
  try {
    return openSync('/proc/self/stat', 'r');
  } catch {
    return null;
  }
}

function readStat(): { childFaults: number; rssBytes: number } {
  try {
    const text = buffer.toString('latin1', 0, readSync(stat ?? -1, buffer, 0, buffer.length, 0));
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { childFaults: Number(fields[8]), rssBytes: Number(fields[21]) * PAGE_BYTES };
  } catch {
    // Other systems have no such file, and a job can close any descriptor.
    return { childFaults: 0, rssBytes: process.memoryUsage.rss() };
  }
}
