import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { percentile } from './percentiles.ts';
import { progressBar, ProgressLine } from './progress-line.ts';

test('a bar is as full as the work is done', () => {
  expect(progressBar(0, 4)).toBe('░'.repeat(24));
  expect(progressBar(2, 4)).toBe('▓'.repeat(12) + '░'.repeat(12));
  expect(progressBar(9, 4)).toBe('▓'.repeat(24));
});

test('it is drawn on a terminal, not too often, and wiped away at the end', () => {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs, random: () => 0 };
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  const line = new ProgressLine(stream, true, clock);
  line.show('sent', 1, 2);
  line.show('sent', 2, 2);
  nowMs = 200;
  line.show('ended', 2, 2);
  line.end();
  const drawn = String(stream.read()).split('\r\u001b[K');
  expect(drawn.map((text) => text.replaceAll(/[▓░]+ /g, ''))).toEqual([
    '',
    'sent 1/2',
    'ended 2/2',
    '',
  ]);
  const pipe = new PassThrough();
  new ProgressLine(pipe, true, clock).show('sent', 1, 2);
  expect(pipe.read()).toBeNull();
});

test('a percentile is a value that was measured', () => {
  expect(percentile([3, 1, 2, 4], 0.5)).toBe(2);
  expect(percentile([3, 1, 2, 4], 0.99)).toBe(4);
  expect(percentile([], 0.5)).toBeNaN();
});
