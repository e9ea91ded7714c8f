import { expect, test } from 'vitest';
import type { Level, LogView } from '../../../../src/core/views/history.ts';
import { ago } from '../made.fixture.ts';
import {
  atLeastLevel,
  logText,
  matchingLines,
  piecesOf,
  WINDOW_LINES,
  windowAround,
  windowOf,
} from './log-search.ts';

const line = (message: string, level: Level = 'info'): LogView => ({
  id: message,
  attempt: 1,
  at: ago(0),
  level,
  stream: 'logger',
  message,
});

test('a level hides the lines below it', () => {
  const lines = (['trace', 'info', 'warn', 'fatal'] as const).map((level) => line(level, level));
  const shown = (level: Level) => atLeastLevel(lines, level).map(({ message }) => message);
  expect(shown('trace')).toEqual(['trace', 'info', 'warn', 'fatal']);
  expect(shown('warn')).toEqual(['warn', 'fatal']);
  expect(shown('error')).toEqual(['fatal']);
});

test('a file has a line for each, with its job if they are of several', () => {
  const one = line('pa\u001b[31mge', 'warn');
  expect(logText([one])).toBe(`${one.at} warn page\n`);
  expect(logText([{ ...one, jobId: 'a' }, one])).toBe(
    `${one.at} a warn page\n${one.at} warn page\n`,
  );
});

test('a search finds lines in any case, and looks at what is shown', () => {
  const lines = [line('Page 1'), line('other'), line('pa\u001b[31mge 2')];
  expect(matchingLines(lines, 'PAGE')).toEqual([0, 2]);
  expect(matchingLines(lines, '')).toEqual([]);
  expect(matchingLines(lines, '[31m')).toEqual([]);
});

test.each([
  ['aXbxc', 'x', ['a', '*X', 'b', '*x', 'c']],
  ['a.b', '.', ['a', '*.', 'b']],
  ['(x', '(', ['*(', 'x']],
  ['none', 'y', ['none']],
  ['all', '', ['all']],
])('%s searched for %s', (text, wanted, pieces) => {
  expect(piecesOf(text, wanted).map((one) => `${one.hit ? '*' : ''}${one.text}`)).toEqual(pieces);
});

test('the page has a window of a long log', () => {
  expect(windowOf(10, null)).toEqual({ start: 0, end: 10 });
  expect(windowOf(50_000, null)).toEqual({ start: 50_000 - WINDOW_LINES, end: 50_000 });
  expect(windowOf(50_000, 100)).toEqual({ start: 100, end: 100 + WINDOW_LINES });
  expect(windowOf(50_000, 49_999)).toEqual({ start: 50_000 - WINDOW_LINES, end: 50_000 });
  const { start, end } = windowOf(50_000, windowAround(30_000));
  expect(start).toBeLessThan(30_000);
  expect(end).toBeGreaterThan(30_000);
  expect(windowAround(5)).toBe(0);
});
