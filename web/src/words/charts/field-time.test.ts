import { afterEach, expect, it } from 'vitest';
import { fieldTime, timeOfField } from './field-time.ts';
import { BROWSER_ZONE, showZone, shownZone } from '../zone.ts';

afterEach(() => showZone(BROWSER_ZONE));

it.each([
  ['UTC', '2030-01-01T12:00', '2030-01-01T12:00:00.000Z'],
  ['Asia/Tokyo', '2030-01-01T12:00', '2030-01-01T03:00:00.000Z'],
  ['Asia/Kathmandu', '2030-01-01T00:10', '2029-12-31T18:25:00.000Z'],
  ['America/New_York', '2030-07-01T23:59', '2030-07-02T03:59:00.000Z'],
  ['Pacific/Kiritimati', '2030-01-01T00:00', '2029-12-31T10:00:00.000Z'],
  ['Pacific/Pago_Pago', '2030-01-01T23:00', '2030-01-02T10:00:00.000Z'],
])('reads and shows a field in %s', (zone, field, at) => {
  showZone(zone);
  expect(timeOfField(field)?.toISOString()).toBe(at);
  expect(fieldTime(new Date(at))).toBe(field);
  expect(shownZone()).toBe(zone);
});

it('follows the clock changes of the zone', () => {
  showZone('Europe/Berlin');
  const read = (text: string) => timeOfField(text)?.toISOString();
  expect(read('2030-03-31T01:59')).toBe('2030-03-31T00:59:00.000Z');
  // Skipped: the clock goes from 02:00 to 03:00.
  expect(read('2030-03-31T02:30')).toBe('2030-03-31T01:30:00.000Z');
  expect(read('2030-03-31T03:00')).toBe('2030-03-31T01:00:00.000Z');
  // Repeated: the first of both.
  expect(read('2030-10-27T02:30')).toBe('2030-10-27T00:30:00.000Z');
  expect(fieldTime(new Date('2030-10-27T01:30:00Z'))).toBe('2030-10-27T02:30');
});

it('is the time of the browser unless a zone is chosen', () => {
  const text = '2030-07-01T08:30';
  expect(timeOfField(text)).toEqual(new Date(text));
  expect(fieldTime(new Date(text))).toBe(text);
});

it.each(['', 'soon', '2030-01-01T', '2030-02-31x'])('refuses %j', (text) => {
  expect(timeOfField(text)).toBeNull();
});
