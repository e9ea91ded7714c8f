import { describe, expect, test } from 'vitest';
import { defineJob } from './define.ts';
import type { ScheduleInput } from './declared-schedule.ts';

const schedulesOf = (schedule: unknown) =>
  defineJob({ key: 'report', schedule: schedule as ScheduleInput, run: () => null }).info.schedules;

describe('the schedule of a definition', () => {
  test('is a cron expression, an object, or a list with names', () => {
    expect(schedulesOf(undefined)).toEqual([]);
    expect(schedulesOf('0 3 * * *')).toMatchObject([
      { name: 'default', cron: '0 3 * * *', timezone: 'UTC', paramsJson: '{}', overlap: 'allow' },
    ]);
    const startAt = new Date('2030-01-01T00:00:00Z');
    const one = { cron: '@daily', timezone: 'Asia/Tokyo', params: { a: 1 }, startAt };
    expect(schedulesOf(one)).toMatchObject([
      {
        name: 'default',
        timezone: 'Asia/Tokyo',
        paramsJson: '{"a":1}',
        startAt: startAt.toISOString(),
      },
    ]);
    const two = [
      { name: 'a', cron: '@daily' },
      { name: 'b', cron: '@hourly', overlap: 'skip' },
    ];
    expect(schedulesOf(two).map(({ name, overlap }) => [name, overlap])).toEqual([
      ['a', 'allow'],
      ['b', 'skip'],
    ]);
  });

  test('is plain JSON, so that it can be published', () => {
    const schedules = schedulesOf({ cron: '@daily', endAt: '2030-01-01T00:00:00Z' });
    expect(JSON.parse(JSON.stringify(schedules))).toEqual(schedules);
  });

  test.each([
    [7, 'report: schedule must be a cron expression, an object, or a list of objects'],
    [{}, 'report: schedule.cron must be a string'],
    [{ cron: '' }, 'report: schedule.cron must be a string'],
    [{ cron: '@daily', tz: 'UTC' }, 'report: unknown field of schedule "tz"'],
    [{ cron: '@daily', overlap: 'skipp' }, 'unknown policy "skipp": did you mean "skip"?'],
    [{ cron: '@daily', catchUpMax: 0 }, 'schedule.catchUpMax must be a whole number from 1'],
    [{ cron: '@daily', startAt: 'soon' }, 'schedule.startAt must be a time'],
    [{ cron: '@daily', params: { f: () => 1 } }, 'schedule.params/f: a value of type function'],
    [[{ cron: '@daily' }, { cron: '@hourly' }], 'each schedule needs a name'],
    [
      [
        { name: 'a', cron: '@daily' },
        { name: 'a', cron: '@hourly' },
      ],
      'schedule: the name "a" occurs twice',
    ],
  ])('refuses %j', (schedule, words) => {
    expect(() => schedulesOf(schedule)).toThrow(words);
  });
});
