import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values/duration.ts';
import { planSeries, POINTS_MAX, SERIES_DAYS_MAX } from './series-plan.ts';

const at = new Date('2026-05-20T12:34:56Z');
const ago = (ms: number) => new Date(at.getTime() - ms);

it.each([
  ['15 minutes', 15 * MINUTE_MS, 1, 1, 16],
  ['an hour', HOUR_MS, 1, 1, 61],
  ['6 hours', 6 * HOUR_MS, 5, 1, 73],
  ['a day', DAY_MS, 15, 15, 97],
  ['7 days', 7 * DAY_MS, 120, 60, 85],
  ['30 days', 30 * DAY_MS, 360, 60, 121],
  ['31 days', SERIES_DAYS_MAX * DAY_MS, 720, 60, 63],
])('shows %s', (_, lengthMs, stepMinutes, slotMinutes, points) => {
  const plan = planSeries(ago(lengthMs), at, at);
  if (!plan) throw new Error('no plan');
  expect([plan.stepMs / MINUTE_MS, plan.slotMinutes]).toEqual([stepMinutes, slotMinutes]);
  expect((plan.toMs - plan.fromMs) / plan.stepMs).toBe(points);
  expect(points).toBeLessThanOrEqual(POINTS_MAX + 1);
  expect(plan.fromMs).toBeLessThanOrEqual(ago(lengthMs).getTime());
  expect(plan.toMs).toBeGreaterThan(at.getTime());
});

it('has no finer steps than what is still stored', () => {
  const hour = (daysAgo: number) =>
    planSeries(ago(daysAgo * DAY_MS), ago(daysAgo * DAY_MS - HOUR_MS), at);
  expect(hour(1)).toMatchObject({ stepMs: MINUTE_MS, slotMinutes: 1 });
  expect(hour(2)).toMatchObject({ stepMs: 15 * MINUTE_MS, slotMinutes: 15 });
  expect(hour(9)).toMatchObject({ stepMs: HOUR_MS, slotMinutes: 60 });
});

it('ends now at the latest', () => {
  const plan = planSeries(ago(HOUR_MS), ago(-DAY_MS), at);
  expect(plan?.toMs).toBe(Date.parse('2026-05-20T12:35:00Z'));
});

it.each([
  ['ends before it begins', ago(HOUR_MS), ago(2 * HOUR_MS)],
  ['is empty', ago(HOUR_MS), ago(HOUR_MS)],
  ['is in the future', ago(-HOUR_MS), ago(-2 * HOUR_MS)],
  ['begins too long ago', ago((SERIES_DAYS_MAX + 1) * DAY_MS), at],
])('refuses a range that %s', (_, from, to) => {
  expect(planSeries(from, to, at)).toBeNull();
});
