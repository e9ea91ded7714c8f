import { type Level, LEVELS, type LogView } from '../../../../src/core/views/history.ts';
import { plainText } from '../jobs/log-tail.ts';

/** Filter and search of a log in the browser. */

export function atLeastLevel<Line extends LogView>(
  lines: readonly Line[],
  level: Level,
): readonly Line[] {
  const least = LEVELS.indexOf(level);
  return least === 0 ? lines : lines.filter((line) => LEVELS.indexOf(line.level) >= least);
}

const PLAIN = new WeakMap<LogView, string>();

/** The text of a line as it is shown. Kept, because a search looks at every line. */
export function lineText(line: LogView): string {
  const known = PLAIN.get(line);
  if (known !== undefined) return known;
  const text = plainText(line.message);
  PLAIN.set(line, text);
  return text;
}

/** The lines as a text file: the job only where they are of several. */
export function logText(lines: readonly (LogView & { jobId?: string | undefined })[]): string {
  return lines
    .map((line) => [line.at, line.jobId, line.level, lineText(line)].filter(Boolean).join(' '))
    .map((text) => `${text}\n`)
    .join('');
}

/** The indexes of the lines that contain the text, in any case. */
export function matchingLines(lines: readonly LogView[], text: string): number[] {
  if (text === '') return [];
  const wanted = text.toLowerCase();
  return lines.flatMap((line, index) =>
    lineText(line).toLowerCase().includes(wanted) ? index : [],
  );
}

export interface Piece {
  text: string;
  hit: boolean;
}

/** The text in pieces, of which some are matches. */
export function piecesOf(text: string, wanted: string): Piece[] {
  if (wanted === '') return [{ text, hit: false }];
  const pattern = new RegExp(wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: hit, index } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ text: text.slice(end, index), hit: false });
    pieces.push({ text: hit, hit: true });
    end = index + hit.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hit: false });
  return pieces;
}

/** The most lines in the page at a time; others are reached by search or page by page. */
export const WINDOW_LINES = 1_000;

/** The lines that are in the page: the newest, or those from `first` on. */
export function windowOf(count: number, first: number | null): { start: number; end: number } {
  const last = Math.max(0, count - WINDOW_LINES);
  const start = first === null ? last : Math.max(0, Math.min(first, last));
  return { start, end: Math.min(count, start + WINDOW_LINES) };
}

/** Where a window starts that has this line in its middle. */
export function windowAround(index: number): number {
  return Math.max(0, index - WINDOW_LINES / 2);
}
