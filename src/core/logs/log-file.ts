import { printableLines } from '../values/printable.ts';
import type { LogStream, LogView } from '../views/history.ts';

/** The log of a job as a file. */
export const LOG_FORMATS = ['text', 'jsonl'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Source of a line; `sys` is Longshore itself. */
const SOURCES: Record<LogStream, string> = {
  stdout: 'out',
  stderr: 'err',
  logger: 'log',
  system: 'sys',
};

/** Time, attempt, level and source of a line. */
export function logHead({ at, attempt, level, stream }: Omit<LogView, 'id' | 'message'>): string {
  return `${at} #${attempt} ${level.padEnd(5)} ${SOURCES[stream] ?? stream}`;
}

/** One line as it is written to a file. Further lines of a text are indented. */
export function logFileLine(line: LogView, format: LogFormat): string {
  if (format === 'jsonl') return `${JSON.stringify(line)}\n`;
  const head = logHead(line);
  const [first = '', ...more] = printableLines(line.message);
  const indent = ' '.repeat(head.length);
  const lines = [`${head} ${first}`, ...more.map((text) => `${indent} ${text}`)];
  return `${lines.map((text) => text.trimEnd()).join('\n')}\n`;
}
