import { hashText } from '../values/hash.ts';
import type { JobError } from '../job/job.ts';
import { FOREIGN_FRAME, framesOf } from './own-frames.ts';

/**
 * The identity of an error without the details of one occurrence, as 16 hex digits: failures with
 * the same fingerprint have the same cause, so two thousand dead letters are shown as three errors.
 * It covers the code, the class, the message without variable parts, and the topmost stack frame
 * that is not of Node, a package or Longshore. Line numbers are left out, because every edit of a
 * file would change them.
 */
export function fingerprintOf({ code, message, stack }: JobError): string {
  const frame = applicationFrame(stack ?? '');
  return hashText([code, className(stack ?? ''), normalMessage(message), frame].join('\n'));
}

/** Bounds the cost of a long message. */
const MESSAGE_MAX = 500;

/** The order matters: a URL contains a path, a path contains numbers. */
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

/** A stack begins with the name of the class, if there is one. */
function className(stack: string): string {
  return /^(?:Uncaught )?([A-Za-z_$][\w$]{0,99})(?::|\n|$)/.exec(stack)?.[1] ?? '';
}

/** The name of the function and its file, without folders, which differ between machines. */
function applicationFrame(stack: string): string {
  const own = framesOf(stack).find((line) => !FOREIGN_FRAME.test(line));
  if (own === undefined) return '';
  const location = own.slice(0, 500).trim().slice('at '.length);
  return location.replace(
    /\(?(?:file:\/\/)?(?:[^\s()]*[\\/])?([^\s()\\/]+?)(?::\d+){0,2}\)?$/,
    '$1',
  );
}
