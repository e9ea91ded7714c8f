import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  rssBytes: number;
  peakRssBytes: number;
  /** Without the files that it maps: its program and libraries, which are shared and can be read again. */
  heldBytes: number;
  /** Its own, and that of the children it has waited for. */
  cpuMs: number;
}

/** The clock ticks in which Linux counts processor time, whatever the kernel is built with. */
const TICK_MS = 10;

/** What a process uses, seen from outside; null when it is gone or there is no `/proc`. */
export function usageOf(pid: number): ProcessUsage | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return {
      rssBytes: bytesIn(status, 'VmRSS') ?? 0,
      peakRssBytes: bytesIn(status, 'VmHWM') ?? 0,
      heldBytes: (bytesIn(status, 'RssAnon') ?? 0) + (bytesIn(status, 'RssShmem') ?? 0),
      cpuMs: ticks * TICK_MS,
    };
  } catch {
    return null;
  }
}

/**
 * What a process holds, with what it shares counted in part, so that the sum over processes that share
 * much (a parent and the children it forked) is what they really take. Slower to find out.
 */
export function proportionalBytes(pid: number): number | null {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const anonymous = bytesIn(rollup, 'Pss_Anon');
    if (anonymous === null) return bytesIn(rollup, 'Pss');
    return anonymous + (bytesIn(rollup, 'Pss_Shmem') ?? 0);
  } catch {
    return null;
  }
}

function bytesIn(table: string, name: string): number | null {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(table)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}
