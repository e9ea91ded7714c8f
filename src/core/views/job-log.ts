/**
 * Which log lines about jobs are written. Failures are logged one by one unless logging is off; of
 * all other lines a share is logged. The share is of jobs, not of lines: a sampled job has all its
 * lines, in every process.
 */
export interface JobLines {
  failures: boolean;
  share: number;
  /** Lines about failures have the message and the stack of the error. */
  errors: boolean;
  /** The lines that jobs write are logged, too. */
  output: boolean;
}

export const DEFAULT_JOB_LINES = 'failures';

/**
 * `off`, `failures`, `all`, or failures and a share of the others such as `0.01`; all but `off` may be
 * followed by `+errors` and `+output`. Null when invalid.
 */
export function parseJobLines(text: string): JobLines | null {
  if (text === 'off') return { failures: false, share: 0, errors: false, output: false };
  const [which = '', ...more] = text.split('+');
  const isKnown = more.every((one) => one === 'errors' || one === 'output');
  if (!isKnown || new Set(more).size < more.length) return null;
  const extras = { errors: more.includes('errors'), output: more.includes('output') };
  if (which === 'failures') return { failures: true, share: 0, ...extras };
  if (which === 'all') return { failures: true, share: 1, ...extras };
  const isShare = /^(0|1|0?\.\d{1,9})$/.test(which);
  return isShare ? { failures: true, share: Number(which), ...extras } : null;
}

const CHANCES = 2 ** 32;

/** Decided by random digits of the id. */
export function isInShare(jobId: string, share: number): boolean {
  if (share === 0) return false;
  return share === 1 || Number.parseInt(jobId.slice(24, 32), 16) < share * CHANCES;
}
