import type { JobLog } from '../../../client/index.ts';
import type { Output } from '../output.ts';
import { printableLines } from '../../../core/values/printable.ts';
import { logHead } from '../../../core/logs/log-file.ts';

const COLOURS: Partial<Record<JobLog['level'], 'gray' | 'yellow' | 'red'>> = {
  trace: 'gray',
  debug: 'gray',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};

/** A log line: time, attempt, level, source, message. */
export function logText(out: Output, line: JobLog, to: 'stdout' | 'stderr' = 'stdout'): string[] {
  const head = logHead(line);
  const colour = COLOURS[line.level];
  const painted = colour === undefined ? head : out.paint(colour, head, to);
  const [first = '', ...more] = printableLines(line.message);
  const indent = ' '.repeat(head.length);
  return [`${painted} ${first}`.trimEnd(), ...more.map((text) => `${indent} ${text}`.trimEnd())];
}
