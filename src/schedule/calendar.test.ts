import { Cron } from 'croner';
import { describe, expect, it, test } from 'vitest';
import {
  changesOf,
  differencesAt,
  timingOf,
  walk,
  walkBack,
} from '../../test/support/checks/zone-oracle.ts';
import { Calendar } from './calendar.ts';
import { ScheduleError } from './error.ts';
import { firstSlot } from './first-slot.ts';

const DAY_MS = 24 * 3_600_000;

describe('around changes of clocks', () => {
  // Half an hour, midnight, a month apart, the other hemisphere; `npm run zones` does all of them.
  test.each([
    ['Europe/Berlin', 2026, 2026],
    ['America/New_York', 2026, 2026],
    ['Australia/Lord_Howe', 2026, 2026],
    ['Africa/Cairo', 2026, 2026],
    ['Africa/Casablanca', 2026, 2026],
    ['America/Sao_Paulo', 2018, 2018],
    ['Asia/Gaza', 2026, 2026],
    ['Pacific/Apia', 2011, 2011],
  ])('%s has the slots that its local clock shows', (zone, fromYear, toYear) => {
    const changes = changesOf(zone, fromYear, toYear);
    expect(changes.length).toBeGreaterThanOrEqual(2);
    expect(changes.flatMap((change) => differencesAt(zone, change))).toEqual([]);
  });

  test.each([
    ['30 2 * * *', 'America/New_York'],
    ['45 1 * * *', 'Australia/Lord_Howe'],
    ['0 0 * * *', 'Africa/Cairo'],
    ['0 0 * * 5', 'Africa/Cairo'],
    ['*/30 * * * *', 'Europe/Berlin'],
    ['0 */3 * * *', 'America/St_Johns'],
    ['15 10 L * *', 'Pacific/Chatham'],
    ['5 4 * 3,10 SUN', 'Europe/London'],
  ])('"%s" in %s agrees with croner itself, where it has the same policies', (cron, timezone) => {
    const [fromMs, untilMs] = [Date.UTC(2025, 11, 20), Date.UTC(2027, 0, 10)];
    const theirs: number[] = [];
    const croner = new Cron(cron, { timezone });
    let at = croner.nextRun(new Date(fromMs - 1));
    for (; at && at.getTime() <= untilMs; at = croner.nextRun(at)) theirs.push(at.getTime());
    const ours = walk(new Calendar(timingOf(cron, timezone)), fromMs, untilMs);
    expect(ours.map(({ atMs }) => atMs)).toEqual(theirs);
    expect(theirs.length).toBeGreaterThan(8);
  });
});

it('walks back over exactly what it walked forward', () => {
  const month = [Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 3)] as const;
  const century = [Date.UTC(2000, 0, 1), Date.UTC(2100, 0, 1)] as const;
  for (const [cron, [fromMs, untilMs]] of [
    ['*/7 * * * *', month],
    ['30 2,3 * * *', month],
    ['10 5 */2 * * *', month],
    ['0 0 29 2 *', century],
    ['0 12 1 1 *', century],
  ] as const) {
    const calendar = new Calendar(timingOf(cron, 'Europe/Berlin', 'twice'));
    const forward = walk(calendar, fromMs, untilMs);
    expect(walkBack(calendar, fromMs, untilMs)).toEqual(forward);
    expect(forward.length).toBeGreaterThan(20);
  }
});

it('stays inside its bounds: from startAt on, before endAt', () => {
  const startAt = new Date('2026-05-01T10:00:00Z');
  const endAt = new Date('2026-05-01T13:00:00Z');
  const calendar = new Calendar({ ...timingOf('0 * * * *', 'UTC'), startAt, endAt });
  const hours = walk(calendar, 0, Date.UTC(2030, 0)).map(({ atMs }) =>
    new Date(atMs).getUTCHours(),
  );
  expect(hours).toEqual([10, 11, 12]);
  expect(walkBack(calendar, 0, Date.UTC(2030, 0))).toHaveLength(3);
  expect(calendar.after(endAt.getTime() - 1)).toBeNull();
});

it('gives the newest slots only, and says when it left some out', () => {
  const calendar = new Calendar(timingOf('* * * * * *', 'UTC'));
  const from = { atMs: Date.UTC(2026, 0, 1), localMs: Date.UTC(2026, 0, 1) };
  const few = calendar.newest(from, from.atMs + 4_999, 10);
  expect(few.slots.map(({ atMs }) => atMs - from.atMs)).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  expect(few.complete).toBe(true);
  const many = calendar.newest(from, from.atMs + 365 * DAY_MS, 3);
  expect(many.slots.map(({ atMs }) => atMs - from.atMs - 365 * DAY_MS)).toEqual([
    -2_000, -1_000, 0,
  ]);
  expect(many.complete).toBe(false);
});

describe('what can never run', () => {
  const now = Date.UTC(2026, 0, 1);
  const refusal = (timing: Partial<ReturnType<typeof timingOf>>) => {
    try {
      firstSlot({ ...timingOf('0 0 * * *', 'UTC'), ...timing }, now);
      return null;
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      return `${error.field}: ${error.message}`;
    }
  };

  test.each([
    ['0 0 31 4 *', 'cron: matches no day within 400 years'],
    ['0 0 30 2 *', 'cron: matches no day within 400 years'],
    ['0 0 31 2,4,6,9,11 *', 'cron: matches no day within 400 years'],
    ['* * * *', 'cron: must be 5 fields'],
    ['0 0 0 * * * 2030', 'cron: must be 5 fields'],
    ['', 'cron: must be 5 fields'],
    ['2030-01-01T00:00:00', 'cron: must be 5 fields'],
    ['60 * * * *', 'cron: is not a cron expression: Invalid value for minute: 60'],
    ['a b c d e', 'cron: is not a cron expression'],
    ['*/0 * * * *', 'cron: is not a cron expression'],
    ['@dayly', 'cron: unknown nickname "@dayly": did you mean "@daily"?'],
    ['@reboot', 'cron: unknown nickname "@reboot"'],
  ])('refuses "%s"', (cron, words) => expect(refusal({ cron })).toMatch(words));

  test('refuses a text that is far too long', () => {
    expect(refusal({ cron: `0 0 ${'1,'.repeat(500)}1 * *` })).toMatch('cron: must be 5 fields');
  });

  test.each([
    ['Europe/Berln', 'timezone: unknown timezone "Europe/Berln": did you mean "Europe/Berlin"?'],
    ['+02:00', 'timezone: unknown timezone "+02:00"'],
    ['', 'timezone: unknown timezone ""'],
  ])('refuses the zone "%s"', (timezone, words) => {
    expect(refusal({ timezone })).toContain(words);
  });

  test('refuses bounds without a slot', () => {
    const endAt = new Date(now + 3_600_000);
    expect(refusal({ endAt })).toMatch('endAt: must leave room for a slot: there is none from now');
    expect(refusal({ startAt: endAt, endAt })).toBe('endAt: must be after startAt');
    expect(refusal({ startAt: new Date(Date.UTC(9000, 0)) })).toMatch('startAt: is too far away');
  });

  test.each(['0 0 29 2 *', '0 0 29 2 +MON', '@yearly', '  0 0 * * *  ', '@DAILY', '0 0 * * 5#2'])(
    'takes "%s"',
    (cron) => expect(refusal({ cron })).toBeNull(),
  );

  test('takes old names of zones', () => {
    for (const timezone of ['US/Eastern', 'Asia/Calcutta', 'Asia/Kolkata', 'UTC', 'Etc/GMT-2']) {
      expect(refusal({ timezone })).toBeNull();
    }
  });
});
