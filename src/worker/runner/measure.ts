import { channel } from 'node:diagnostics_channel';
import { openSync, readSync } from 'node:fs';
import type { Measured } from '../ipc.ts';

/**
 * What a job uses, and whether it started anything that may outlive it. Node tells of processes and
 * threads as they are started, but not of `execSync` and its kin; those have been waited for, which
 * the kernel remembers: it adds up the page faults of children that have ended. So of what a job can
 * start from JavaScript nothing goes unseen. (Native code that forks and does not wait does; what it
 * leaves behind ends with the runner.)
 */
let starts = 0;
for (const name of ['child_process', 'worker_threads']) {
  channel(name).subscribe(() => (starts += 1));
}

/** What everything inherits from, and what a job that merges hostile params into an object changes. */
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype];
let inherited: number | undefined;

/** How many names everything inherits; counted when the definitions are loaded and from then on. */
function inheritedNames(): number {
  return PROTOTYPES.reduce<number>((sum, one) => sum + Reflect.ownKeys(one).length, 0);
}

const home = process.cwd();
const PAGE_BYTES = 4_096;
const buffer = Buffer.alloc(1_024);
const stat = openStat();
let known = readStat();

/**
 * What an attempt uses of a process that runs many, one after another. The peak of the process is
 * the attempt's own when it grew meanwhile; otherwise an earlier job made it, and all we know is what
 * the process holds now.
 */
export function measure(): () => Measured {
  const before = process.resourceUsage();
  inherited ??= inheritedNames();
  const startsBefore = starts;
  return () => {
    const after = process.resourceUsage();
    const cpuBefore = before.userCPUTime + before.systemCPUTime;
    const childFaults = known.childFaults;
    // A job that never waited for anything has not waited for a child: most tiny ones are spared this.
    if (after.voluntaryContextSwitches > before.voluntaryContextSwitches) known = readStat();
    return {
      cpuMs: Math.round((after.userCPUTime + after.systemCPUTime - cpuBefore) / 1_000),
      peakRssBytes: after.maxRSS > before.maxRSS ? after.maxRSS * 1_024 : known.rssBytes,
      spent:
        starts > startsBefore ||
        known.childFaults > childFaults ||
        hasMoved() ||
        inheritedNames() !== inherited,
    };
  };
}

/** The next job finds its files where it expects them; where a folder is gone, nobody is. */
function hasMoved(): boolean {
  try {
    return process.cwd() !== home;
  } catch {
    return true;
  }
}

/** Of a thread only its processor time is its own. */
export function measureThread(): () => Measured {
  const startsBefore = starts;
  // Not there before Node 23.9.
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
    // There is no such file on other systems, and a job can close any descriptor.
    return { childFaults: 0, rssBytes: process.memoryUsage.rss() };
  }
}
