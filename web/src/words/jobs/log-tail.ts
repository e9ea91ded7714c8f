import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import type { LogView } from '../../../../src/core/views/history.ts';

/** The newest log lines, and the number of earlier ones dropped to save memory. */
export interface LogTail {
  lines: readonly LogView[];
  dropped: number;
}

export const TAIL_MAX = 100_000;
export const EMPTY_TAIL: LogTail = { lines: [], dropped: 0 };

/** A reopened stream may repeat lines; line ids only grow. */
export function appendLines(tail: LogTail, more: readonly LogView[]): LogTail {
  const known = new Set(tail.lines.slice(-more.length - 50).map(({ id }) => id));
  const all = [...tail.lines, ...more.filter(({ id }) => !known.has(id))];
  const excess = Math.max(0, all.length - TAIL_MAX);
  return { lines: all.slice(excess), dropped: tail.dropped + excess };
}

/**
 * Names the attempt that a job is in, and whether the job has ended. A retry that fails within a moment
 * changes it too, although the dashboard never saw the job run.
 */
export function runOf({
  status,
  attempts,
  startedAt,
}: Pick<JobView, 'status' | 'attempts' | 'startedAt'>): string {
  return `${isTerminal(status) ? 'ended' : 'open'} ${attempts} ${startedAt}`;
}

// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** Without terminal escapes and control characters. */
export function plainText(text: string): string {
  return text.replaceAll(ESCAPES, '').replaceAll(CONTROLS, '\ufffd');
}
