import { expect, test } from 'vitest';
import { ago, NOW } from './made.fixture.ts';
import { bytes, distance, momentIn } from './moment.ts';

test.each([
  [0.4, 'now'],
  [-1, 'now'],
  [12.4, '12 s ago'],
  [242, '4m02s ago'],
  [-90, 'in 1m30s'],
])('%d seconds before now is "%s"', (seconds, words) => {
  expect(distance(ago(seconds), NOW)).toBe(words);
});

test('a moment is shown by the clock of its zone', () => {
  expect(momentIn('2030-03-31T01:00:00Z', 'Europe/Berlin')).toMatch(/^Sun,? 31 Mar, 03:00$/);
  expect(momentIn('2030-03-31T01:00:30Z', 'UTC')).toMatch(/^Sun,? 31 Mar, 01:00:30$/);
});

test('a list in which one moment has seconds shows them everywhere', () => {
  const beside = ['2030-03-31T01:00:00Z', '2030-03-31T01:00:30Z'];
  expect(momentIn('2030-03-31T01:00:00Z', 'UTC', beside)).toMatch(/^Sun,? 31 Mar, 01:00:00$/);
  expect(momentIn('2030-03-31T01:00:00Z', 'UTC', beside.slice(0, 1))).toMatch(/, 01:00$/);
});

test('memory is shown in round numbers', () => {
  expect([bytes(900), bytes(70_000), bytes(268_435_456)]).toEqual(['1 KiB', '69 KiB', '256 MiB']);
});
