import type { JobLog } from '../../client/index.ts';
import { LEVELS } from '../../core/views/history.ts';
import { clamp } from './clamp.ts';

const LINE_MAX = 400;
/** Of one answer. */
const CHARACTERS_MAX = 16_000;

/** Whether a line has this level or a worse one, and this text in any case. */
export function lineFilter(
  level: (typeof LEVELS)[number] | undefined,
  contains: string | undefined,
): (line: JobLog) => boolean {
  const lowest = LEVELS.indexOf(level ?? 'trace');
  const wanted = contains?.toLowerCase();
  return (line) =>
    LEVELS.indexOf(line.level) >= lowest &&
    (wanted === undefined || line.message.toLowerCase().includes(wanted));
}

export function lineText({ at, level, stream, attempt, message }: JobLog): string {
  const from = stream === 'logger' ? '' : ` ${stream}`;
  const line = clamp(message.replaceAll(/\r?\n/g, '\\n'), LINE_MAX);
  return `${at} attempt ${attempt} ${level}${from}: ${line}`;
}

/** The last lines that fit into one answer. */
export function lastWithin(lines: readonly string[]): string[] {
  let length = 0;
  const from = lines.findLastIndex((line) => (length += line.length) > CHARACTERS_MAX);
  return lines.slice(from + 1);
}

/** How many lines before the shown ones fit, too. */
export function earlierText(found: number, shown: number): string | null {
  return found > shown ? `${found - shown} earlier lines are not shown.` : null;
}
