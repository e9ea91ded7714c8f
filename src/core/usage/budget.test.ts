import { expect, it } from 'vitest';
import { type Budget, budgetText, budgetView, periodOf } from './budget.ts';

const noon = new Date('2026-02-10T12:00:00Z');

it.each([
  ['day', '2026-02-10T00:00:00Z', '2026-02-10', '2026-02-10'],
  ['day', '2026-02-10T23:59:59.999Z', '2026-02-10', '2026-02-10'],
  ['month', '2026-02-10T12:00:00Z', '2026-02-01', '2026-02-28'],
  ['month', '2024-02-01T00:00:00Z', '2024-02-01', '2024-02-29'],
  ['month', '2026-12-31T23:59:59Z', '2026-12-01', '2026-12-31'],
] as const)('the %s of %s', (period, at, from, to) => {
  expect(periodOf(period, new Date(at))).toEqual({ from, to });
});

function budget(change: Partial<Budget> = {}): Budget {
  const made = { updatedAt: noon.toISOString(), updatedBy: 'anonymous (no keys)' };
  const spec = { definitionKey: null, measure: 'jobs', period: 'day', amount: 100 } as const;
  return { name: 'all', tenant: 'default', ...spec, ...made, ...change };
}

it.each([
  ['nothing is used', 0, 0, null],
  ['it will last', 50, 50, null],
  ['it will not last', 80, 80, '2026-02-10T15:00:00.000Z'],
  ['almost all is used', 99.999, 99, '2026-02-10T12:00:00.432Z'],
  ['all is used', 100, 100, null],
  ['more is used', 250, 250, null],
])('says how much is used when %s', (_, used, usedPercent, runsOutAt) => {
  expect(budgetView(budget(), used, noon)).toMatchObject({ used, usedPercent, runsOutAt });
});

it('expects the rest of a month to go like its beginning', () => {
  const view = budgetView(budget({ period: 'month' }), 50, noon);
  expect(view).toMatchObject({ from: '2026-02-01', to: '2026-02-28' });
  expect(view.runsOutAt).toBe('2026-02-20T00:00:00.000Z');
});

it.each([
  [{}, 85, '85 of 100 jobs on 2026-02-10'],
  [{ measure: 'cpuSeconds', period: 'month' }, 0.12345, '0.123 of 100 CPU seconds in 2026-02'],
  [
    { measure: 'runSeconds', definitionKey: 'report', amount: 2.5 },
    1_234.56,
    '1235 of 2.5 seconds of run time of report on 2026-02-10',
  ],
] as const)('describes %j', (change, used, text) => {
  expect(budgetText(budgetView(budget(change), used, noon))).toBe(text);
});
