import { expect, test } from 'vitest';
import type { Timing } from '../core/schedule/schedule.ts';
import { timingOf } from '../../test/support/checks/zone-oracle.ts';
import { upcoming } from './preview.ts';

const preview = (
  cron: string,
  timezone: string,
  from: string,
  count: number,
  more: Partial<Timing> = {},
) =>
  upcoming({ ...timingOf(cron, timezone), ...more }, Date.parse(from), count).map(
    ({ at, offset, note }) => [at.slice(0, 16), offset, note],
  );

test('tells what becomes of a time that does not exist', () => {
  const [cron, zone, from] = ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z'];
  const gone = '02:30 does not exist on 2026-03-29, clocks go forward';
  expect(preview(cron, zone, from, 2)).toEqual([
    ['2026-03-29T01:00', '+02:00', `${gone}: runs at 03:00`],
    ['2026-03-30T00:30', '+02:00', null],
  ]);
  expect(preview(cron, zone, from, 1, { dstGap: 'skip' })).toEqual([
    ['2026-03-30T00:30', '+02:00', `${gone}: skipped`],
  ]);
});

test('tells what becomes of a time that comes twice', () => {
  const [cron, zone, from] = ['30 1 * * *', 'America/New_York', '2026-11-01T00:00:00Z'];
  const twice = '01:30 comes twice on 2026-11-01, clocks go back';
  expect(preview(cron, zone, from, 2)).toEqual([
    ['2026-11-01T05:30', '-04:00', `${twice}: runs the first time only`],
    ['2026-11-02T06:30', '-05:00', null],
  ]);
  expect(preview(cron, zone, from, 2, { dstRepeat: 'twice' })).toEqual([
    ['2026-11-01T05:30', '-04:00', `${twice}: this is the first time`],
    ['2026-11-01T06:30', '-05:00', `${twice}: this is the second time`],
  ]);
  expect(preview('30 * * * *', zone, '2026-11-01T06:00:00Z', 2)).toEqual([
    ['2026-11-01T06:30', '-05:00', `${twice}: this is the second time`],
    ['2026-11-01T07:30', '-05:00', null],
  ]);
});

test('lists an instant once, although several slots shift onto it', () => {
  const times = preview('*/15 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 3);
  expect(times.map(([at]) => at)).toEqual([
    '2026-03-29T01:00',
    '2026-03-29T01:15',
    '2026-03-29T01:30',
  ]);
});

test('ends where the schedule does', () => {
  const endAt = new Date('2026-01-03T00:00:00Z');
  const times = preview('@daily', 'UTC', '2026-01-01T00:00:00Z', 5, { endAt });
  expect(times).toEqual([['2026-01-02T00:00', '+00:00', null]]);
});
