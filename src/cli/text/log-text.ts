import type { JobLog } from '../../client/index.ts';
import type { Output } from './output.ts';
import { printableLines } from './printable.ts';

/** Source of a line; `sys` is Longshore itself. */
const MARKERS: Record<JobLog['stream'], string> = {
  stdout: 'out',
  stderr: 'err',
  logger: 'log',
  system: 'sys',
};

const COLOURS: Partial<Record<JobLog['level'], 'gray' | 'yellow' | 'red'>> = {
  trace: 'gray',
  debug: 'gray',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/** A log line: time, attempt, level, source, message. */
export function logText(out: Output, { at, attempt, level, stream, message }: JobLog): string[] {
  const head = `${at} #${attempt} ${level.padEnd(5)} ${MARKERS[stream] ?? stream}`;
  const colour = COLOURS[level];
  const painted = colour === undefined ? head : out.paint(colour, head);
  const [first = '', ...more] = printableLines(message);
  const indent = ' '.repeat(head.length);
  return [`${painted} ${first}`.trimEnd(), ...more.map((line) => `${indent} ${line}`.trimEnd())];
}
