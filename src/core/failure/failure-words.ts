import type { JobError } from '../job/job.ts';
import { rootCause } from './dead-letter.ts';

/** A failure, and the message of its innermost cause. */
export interface Failure {
  code: string;
  message: string;
  cause: string | null;
}

/** The code of every thrown error: it says nothing. */
const ANY = 'HANDLER_ERROR';

/** What broke, in one line: the root cause, and the code if it says more. */
export function causeWords({ code, message, cause }: Failure): string {
  const text = firstLine(cause ?? message);
  if (text === '') return code;
  return code === ANY ? text : `${text} (${code})`;
}

/**
 * The message and its root cause, in one line. A message around a cause often names one object, like
 * "order 19 could not be imported"; for a group of failures its numbers and ids become "…". A message
 * that repeats its cause is enough.
 */
export function failureWords({ message, cause }: Omit<Failure, 'code'>, isGroup = false): string {
  const outer = firstLine(message);
  const inner = firstLine(cause ?? '');
  if (outer.includes(inner)) return outer;
  return `${isGroup ? outer.replaceAll(DETAIL, '…') : outer} ← ${inner}`;
}

/** An error in a row of a list, where room is short: its code and its root cause. */
export function errorRow(error: JobError): string {
  return `${error.code} ${firstLine(rootCause(error) ?? error.message)}`.trimEnd();
}

/** An error in a sentence: its code, its message and its root cause. */
export function errorWords(error: JobError): string {
  return `${error.code} ${failureWords({ ...error, cause: rootCause(error) })}`.trimEnd();
}

/** Where an error happened, for a sentence: ` in step "render"`; empty outside of steps. */
export function inStep({ step }: JobError): string {
  return step ? ` in step ${JSON.stringify(step.name)}` : '';
}

/** All that pages show of an error, for a search: `errorText` of the store reads the same. */
export function shownTexts({ code, message, cause }: JobError): string[] {
  return [`${code}: (${code}) ← …`, message, ...(cause ? chain(cause) : [])];
}

function chain({ message, cause }: JobError): string[] {
  return [message, ...(cause ? chain(cause) : [])];
}

/** A number, or a word of letters and digits with at least 8 characters. */
const DETAIL = /\b\d+(?:[.,:]\d+)*\b|\b(?=[\w-]*\d)[\w-]{8,}\b/g;

function firstLine(text: string): string {
  return text.trim().split(/[\r\n]/, 1)[0] ?? '';
}
