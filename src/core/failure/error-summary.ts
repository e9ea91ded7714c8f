import type { JobError } from '../job/job.ts';
import { rootCause } from './dead-letter.ts';
import { failureWords } from './failure-words.ts';

const SUMMARY_MAX = 200;
/** What a long message leaves to its root cause. */
const MESSAGE_MAX = 100;

/** An error in one line: its code, and the first lines of its message and of its root cause. */
export function errorSummary(error: JobError | null): string | null {
  if (error === null) return null;
  const cause = rootCause(error);
  const message = cause === null ? error.message : clip(error.message, MESSAGE_MAX);
  const words = failureWords({ message, cause });
  return clip(words === '' ? error.code : `${error.code}: ${words}`, SUMMARY_MAX);
}

/** Does not end in half of a surrogate pair. */
function clip(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
