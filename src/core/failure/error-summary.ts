import type { JobError } from '../job/job.ts';

const SUMMARY_MAX = 200;

/** An error in one line: its code and the first line of its message. */
export function errorSummary(error: JobError | null): string | null {
  if (error === null) return null;
  const [line = ''] = error.message.trim().split(/[\r\n]/, 1);
  const text = line === '' ? error.code : `${error.code}: ${line}`;
  if (text.length <= SUMMARY_MAX) return text;
  // Does not end in half of a surrogate pair.
  return `${text.slice(0, SUMMARY_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
