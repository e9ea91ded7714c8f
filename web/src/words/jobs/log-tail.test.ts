import { describe, expect, it, test } from 'vitest';
import type { LogView } from '../../../../src/core/views/history.ts';
import { ago, madeJob } from '../made.fixture.ts';
import { appendLines, EMPTY_TAIL, plainText, runOf, TAIL_MAX } from './log-tail.ts';

const line = (id: number): LogView => ({
  id: String(id),
  attempt: 1,
  at: ago(0),
  level: 'info',
  stream: 'logger',
  message: `line ${id}`,
});

it('knows the run of a retry that the page never saw running', () => {
  const failed = madeJob({ status: 'failed', attempts: 3, startedAt: ago(9) });
  expect(runOf({ ...failed })).toBe(runOf(failed));
  expect(runOf({ ...failed, status: 'queued' })).not.toBe(runOf(failed));
  expect(runOf({ ...failed, attempts: 4, startedAt: ago(1) })).not.toBe(runOf(failed));
  expect(runOf({ ...failed, startedAt: ago(1) })).not.toBe(runOf(failed));
});

describe('the tail', () => {
  it('takes no line twice when a stream is opened again', () => {
    const tail = appendLines(appendLines(EMPTY_TAIL, [line(1), line(2)]), [line(2), line(3)]);
    expect(tail.lines.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('keeps the newest, and counts what it let go', () => {
    const lines = Array.from({ length: TAIL_MAX + 5 }, (_, index) => line(index));
    const tail = appendLines(EMPTY_TAIL, lines);
    expect([tail.lines.length, tail.dropped, tail.lines[0]?.id]).toEqual([TAIL_MAX, 5, '5']);
  });
});

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]8;;http://evil\u0007link\u001b]8;;\u0007', 'link'],
  ['a\u0008b\u202etxt', 'a\ufffdb\ufffdtxt'],
  ['tab\tstays', 'tab\tstays'],
])('%j is shown as %j', (text, shown) => expect(plainText(text)).toBe(shown));
