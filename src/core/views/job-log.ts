/**
 * Which log lines about jobs are written. Failures are logged one by one unless logging is off; of
 * all other lines a share is logged. The share is of jobs, not of lines: a sampled job has all its
 * lines, in every process.
 */
export interface JobLines {
  failures: boolean;
  share: number;
}

export const DEFAULT_JOB_LINES = 'failures';

/**
 * `off`, `failures`, `all`, or failures and a share of the others such as `0.01`. Null when
 * invalid.
 */
export function parseJobLines(text: string): JobLines | null {
  if (text === 'off') return { failures: false, share: 0 };
  if (text === 'failures') return { failures: true, share: 0 };
  if (text === 'all') return { failures: true, share: 1 };
  return /^(0|1|0?\.\d{1,9})$/.test(text) ? { failures: true, share: Number(text) } : null;
}

const CHANCES = 2 ** 32;

/** Decided by random digits of the id. */
export function isInShare(jobId: string, share: number): boolean {
  if (share === 0) return false;
  return share === 1 || Number.parseInt(jobId.slice(24, 32), 16) < share * CHANCES;
}
