/**
 * Which lines about jobs the log gets. Failures are told one by one unless nothing is; of all else a
 * share is told, from none to all. The share is one of jobs, not of lines: who follows a job that is told
 * of finds all its lines, from whichever process they come.
 */
export interface JobLines {
  failures: boolean;
  share: number;
}

export const DEFAULT_JOB_LINES = 'failures';

/** `off`, `failures`, `all`, or failures and a share of the others such as `0.01`. Null when it is none. */
export function parseJobLines(text: string): JobLines | null {
  if (text === 'off') return { failures: false, share: 0 };
  if (text === 'failures') return { failures: true, share: 0 };
  if (text === 'all') return { failures: true, share: 1 };
  return /^(0|1|0?\.\d{1,9})$/.test(text) ? { failures: true, share: Number(text) } : null;
}

const CHANCES = 2 ** 32;

/** Decided by those digits of the id that chance made. */
export function isInShare(jobId: string, share: number): boolean {
  if (share === 0) return false;
  return share === 1 || Number.parseInt(jobId.slice(24, 32), 16) < share * CHANCES;
}
