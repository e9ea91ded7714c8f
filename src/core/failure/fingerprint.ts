import { hashText } from '../values/hash.ts';
import type { JobError } from '../job/job.ts';

/**
 * What an error is apart from the details of one occurrence, as 16 hex digits. Two failures with the
 * same fingerprint are the same mistake, so that two thousand dead letters can be told as three
 * errors. It is made of the code, the class, the message without what differs from job to job, and
 * the place in the code: the topmost frame that is neither Node's, nor a package's, nor ours. Line
 * numbers are left out, or every edit of a file would make its errors new ones.
 */
export function fingerprintOf({ code, message, stack }: JobError): string {
  const frame = applicationFrame(stack ?? '');
  return hashText([code, className(stack ?? ''), normalMessage(message), frame].join('\n'));
}

/** A hostile message costs no more than this; what differs after it is no other mistake. */
const MESSAGE_MAX = 500;

/** The order matters: a URL holds a path, a path holds numbers. */
const DETAILS: readonly [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'`<>)\]]+/gi, '<url>'],
  [/"[^"]*"|'[^']*'|`[^`]*`/g, '<text>'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<id>'],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/g, '<mail>'],
  [/(?:[a-z]:)?(?:[\\/][\w.@+-]+){2,}[\\/]?/gi, '<path>'],
  [/\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}\b/gi, '<hex>'],
  [/\b(?=[\w-]*\d)[\w-]{16,}\b/g, '<id>'],
  [/\d+(?:[.,:]\d+)*/g, '<n>'],
  [/\s+/g, ' '],
];

export function normalMessage(message: string): string {
  let text = message.slice(0, MESSAGE_MAX);
  for (const [detail, word] of DETAILS) text = text.replaceAll(detail, word);
  return text.trim();
}

/** A stack begins with the name of the class, as far as there is one. */
function className(stack: string): string {
  return /^(?:Uncaught )?([A-Za-z_$][\w$]{0,99})(?::|\n|$)/.exec(stack)?.[1] ?? '';
}

const FOREIGN = /node:|node_modules|\/longshore\/(?:src|dist)\/|<anonymous>\)?$|native\)?$/;

/** The name of the function and of its file, without the folders that differ between machines. */
function applicationFrame(stack: string): string {
  const frames = stack.split('\n', 50).filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => !FOREIGN.test(line));
  if (own === undefined) return '';
  const location = own.slice(0, 500).trim().slice('at '.length);
  return location.replace(
    /\(?(?:file:\/\/)?(?:[^\s()]*[\\/])?([^\s()\\/]+?)(?::\d+){0,2}\)?$/,
    '$1',
  );
}
