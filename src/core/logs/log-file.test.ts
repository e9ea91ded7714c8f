import { expect, test } from 'vitest';
import type { LogView } from '../views/history.ts';
import { logFileLine } from './log-file.ts';

const LINE: LogView = {
  id: '1.0.0',
  attempt: 2,
  at: '2030-01-01T00:00:00.123Z',
  level: 'warn',
  stream: 'stderr',
  message: 'one\ntwo \u001b[31mred',
};

test('a line of text has date, milliseconds, attempt, level and source', () => {
  const [first, second, end] = logFileLine(LINE, 'text').split('\n');
  expect(first).toBe('2030-01-01T00:00:00.123Z #2 warn  err one');
  expect(second).toMatch(/^ {38}two /);
  expect(second).not.toContain('\u001b');
  expect(end).toBe('');
});

test('a line of JSON is the line of the API', () => {
  const text = logFileLine(LINE, 'jsonl');
  expect(text.endsWith('}\n')).toBe(true);
  expect(JSON.parse(text)).toEqual(LINE);
});
