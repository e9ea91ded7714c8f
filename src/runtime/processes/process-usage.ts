import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  rssBytes: number;
  peakRssBytes: number;
  /** Without mapped files: program and libraries, which are shared and can be read again. */
  heldBytes: number;
  /** Its own, and that of the children it has waited for. */
  cpuMs: number;
}

/** Linux reports processor time in these ticks. */
const TICK_MS = 10;

/** The usage of a process, from `/proc`; null when it is gone or there is no `/proc`. */
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
 * The memory of a process with shared pages counted proportionally, so that the sum over a parent
 * and its forks is correct. Slower.
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
