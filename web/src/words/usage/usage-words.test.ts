import { expect, it, test } from 'vitest';
import type { BudgetView } from '../../../../src/core/usage/budget.ts';
import type { UsageRow, UsageView } from '../../../../src/core/usage/usage.ts';
import {
  budgetProblem,
  budgetTone,
  budgetWords,
  cpuWords,
  memoryWords,
  shortDay,
  usageBars,
} from './usage-words.ts';

function row(day: string, change: Partial<UsageRow>): UsageRow {
  const sums = { jobs: 0, attempts: 0, runSeconds: 0, cpuSeconds: 0, peakRssBytes: null };
  return { day, tenant: null, definitionKey: null, ...sums, ...change };
}

const usage: UsageView = {
  at: '2026-03-01T12:00:00.000Z',
  from: '2026-02-27',
  to: '2026-03-01',
  groupBy: ['day'],
  rows: [row('2026-02-27', { jobs: 3, cpuSeconds: 1.5 }), row('2026-03-01', { jobs: 1_000 })],
  total: row('', { jobs: 1_003, cpuSeconds: 1.5 }),
};

it('has a bar for every day, around its middle', () => {
  const { days, times, model } = usageBars(usage, 'jobs', 'last 3 days');
  expect(days).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
  expect(times.map((at) => new Date(at * 1_000).toISOString().slice(0, 16))).toEqual([
    '2026-02-27T12:00',
    '2026-02-28T12:00',
    '2026-03-01T12:00',
  ]);
  expect(model).toMatchObject({
    unit: 'jobs',
    lines: [{ values: [3, 0, 1_000] }],
    summary: 'Jobs per day, last 3 days: 1,003 in total',
  });
  expect(usageBars(usage, 'cpuSeconds', 'x').model).toMatchObject({
    unit: 'ms',
    lines: [{ values: [1_500, 0, 0], total: '1.5 s' }],
    summary: 'CPU time per day, x: 1.5 s in total',
  });
});

const budget: BudgetView = {
  name: 'b',
  tenant: 'default',
  definitionKey: null,
  measure: 'jobs',
  period: 'day',
  amount: 2_500,
  from: '2026-03-01',
  to: '2026-03-01',
  used: 1,
  usedPercent: 0,
  runsOutAt: null,
  updatedAt: usage.at,
  updatedBy: 'anonymous (no keys)',
};

it.each([
  [{}, '2,500 jobs per day'],
  [{ measure: 'cpuSeconds', amount: 3_600, definitionKey: 'mail' }, '1h CPU time of mail per day'],
  [{ measure: 'runSeconds', amount: 90, period: 'month' }, '1m30s run time per month'],
] as const)('says what %j allows', (change, words) => {
  expect(budgetWords({ ...budget, ...change })).toBe(words);
});

it.each([
  [0, 'good'],
  [79, 'good'],
  [80, 'warn'],
  [99, 'warn'],
  [100, 'bad'],
])('shows %i %% as %s', (usedPercent, tone) => expect(budgetTone({ usedPercent })).toBe(tone));

it.each([
  [{ name: ' ', amount: '1' }, 'Enter a name.'],
  [{ name: 'a', amount: 'x' }, 'Enter an amount above 0.'],
  [{ name: 'a', amount: '0' }, 'Enter an amount above 0.'],
  [{ name: 'a', amount: '0.5' }, null],
])('judges %j', (typed, problem) => expect(budgetProblem(typed)).toBe(problem));

it('shortens a day', () => expect(shortDay('2026-02-07')).toBe('7 Feb'));

it('shows memory that is not known as none', () => {
  expect([memoryWords(null), memoryWords(90 * 1_048_576)]).toEqual(['–', '90 MiB']);
});

test.each([
  ['an inline job', null, 'not known'],
  ['a short job in a process', 0, '0 ms'],
  ['a job', 1.5, '1.5 s'],
])('the CPU time of %s', (_, cpuSeconds, words) => {
  expect(cpuWords({ cpuSeconds })).toBe(words);
});
