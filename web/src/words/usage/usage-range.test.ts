import { expect, it } from 'vitest';
import {
  daysOf,
  draggedDays,
  rangeProblem,
  usageRangeOf,
  usageRangeWords,
  usageSearch,
} from './usage-range.ts';

const now = new Date('2026-03-10T00:30:00Z');

it.each([
  [{}, {}],
  [
    { range: '7d', measure: 'jobs' },
    { range: '7d', measure: 'jobs' },
  ],
  [{ range: '8d', measure: 'toString', tenants: 'some' }, {}],
  [
    { from: '2026-01-01', to: '2026-01-31' },
    { from: '2026-01-01', to: '2026-01-31' },
  ],
  [{ from: '2026-02-01', to: '2026-01-31', range: '90d' }, { range: '90d' }],
  [{ from: '2026-01-01', definition: 'a' }, { definition: 'a' }],
  [
    { tenants: 'all', definition: ['a', 'b'] },
    { tenants: 'all', definition: 'a' },
  ],
])('reads %j', (search, expected) => expect(usageSearch(search)).toEqual(expected));

it('names the days of a range', () => {
  expect(daysOf({}, now)).toEqual({ from: '2026-02-09', to: '2026-03-10' });
  expect(daysOf({ range: '7d' }, now)).toEqual({ from: '2026-03-04', to: '2026-03-10' });
  const fixed = { from: '2026-01-01', to: '2026-01-31' };
  expect(daysOf(fixed, now)).toEqual(fixed);
  expect([usageRangeOf({}), usageRangeOf(fixed)]).toEqual(['30d', null]);
  expect([usageRangeWords({}), usageRangeWords(fixed)]).toEqual([
    'last 30 days',
    '2026-01-01 to 2026-01-31',
  ]);
});

it.each([
  ['2026-01-01', '2026-01-01', null],
  ['', '2026-01-01', 'Enter both days.'],
  ['2026-01-02', '2026-01-01', 'The first day must not be after the last.'],
])('judges %s to %s', (from, to, problem) => expect(rangeProblem(from, to)).toBe(problem));

it('takes the days that a drag touches', () => {
  const ms = (at: string) => Date.parse(at);
  expect(draggedDays(ms('2026-01-01T23:00:00Z'), ms('2026-01-03T01:00:00Z'))).toEqual({
    from: '2026-01-01',
    to: '2026-01-03',
  });
});
