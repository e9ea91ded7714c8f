import { describe, expect, it, test } from 'vitest';
import { isEndless, isQuiet, isTimezone, parseHours, type QuietHours } from './quiet-hours.ts';

const NIGHT: QuietHours = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin', days: null };
const LUNCH: QuietHours = { from: '12:00', to: '13:00', timezone: 'UTC', days: null };
const WEEKEND: QuietHours = { from: '00:00', to: '00:00', timezone: 'UTC', days: ['sat', 'sun'] };
/** Fridays only: until Saturday morning. */
const FRIDAY: QuietHours = { ...NIGHT, timezone: 'UTC', days: ['fri'] };

describe('quiet hours', () => {
  test.each([
    // 2030-01-04 is a Friday; Berlin is an hour ahead in winter.
    ['before the night', NIGHT, '2030-01-04T20:59:59Z', false],
    ['its first minute', NIGHT, '2030-01-04T21:00:00Z', true],
    ['past midnight', NIGHT, '2030-01-05T02:00:00Z', true],
    ['its last minute', NIGHT, '2030-01-05T05:59:59Z', true],
    ['the morning', NIGHT, '2030-01-05T06:00:00Z', false],
    ['the first minute in summer', NIGHT, '2030-07-04T20:00:00Z', true],
    ['the morning in summer', NIGHT, '2030-07-04T05:00:00Z', false],
    // The clock went from 02:00 to 03:00 in this night: it still ends at 07:00.
    ['the end of a night of 8 hours', NIGHT, '2030-03-31T04:59:59Z', true],
    ['the morning after it', NIGHT, '2030-03-31T05:00:00Z', false],
    ['before lunch', LUNCH, '2030-01-04T11:59:00Z', false],
    ['lunch', LUNCH, '2030-01-04T12:30:00Z', true],
    ['after lunch', LUNCH, '2030-01-04T13:00:00Z', false],
    ['a Thursday', FRIDAY, '2030-01-03T23:00:00Z', false],
    ['the Friday morning', FRIDAY, '2030-01-04T03:00:00Z', false],
    ['the Friday evening', FRIDAY, '2030-01-04T23:00:00Z', true],
    ['the Saturday morning', FRIDAY, '2030-01-05T03:00:00Z', true],
    ['the Saturday evening', FRIDAY, '2030-01-05T23:00:00Z', false],
    ['the Friday before a weekend', WEEKEND, '2030-01-04T23:59:00Z', false],
    ['a Saturday', WEEKEND, '2030-01-05T00:00:00Z', true],
    ['a Sunday', WEEKEND, '2030-01-06T23:59:00Z', true],
    ['a Monday', WEEKEND, '2030-01-07T00:00:00Z', false],
  ])('%s', (_, hours, at, quiet) => expect(isQuiet(hours, new Date(at))).toBe(quiet));

  it('end at some time', () => {
    expect(isEndless(WEEKEND)).toBe(false);
    expect(isEndless({ ...WEEKEND, days: null })).toBe(true);
    expect(isEndless(NIGHT)).toBe(false);
  });
});

test.each([
  ['22:00-07:00', { from: '22:00', to: '07:00' }],
  [' 00:00 - 23:59', { from: '00:00', to: '23:59' }],
  ['22:00', null],
  ['24:00-07:00', null],
  ['7:00-8:00', null],
  ['22:00-07:00-08:00', null],
])('reads "%s"', (text, hours) => expect(parseHours(text)).toEqual(hours));

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['Europe/Berlon', false],
  ['+02:00', false],
  ['', false],
])('knows the time zone "%s": %s', (name, known) => expect(isTimezone(name)).toBe(known));
