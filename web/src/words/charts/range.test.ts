import { expect, it } from 'vitest';
import {
  chartSearch,
  rangeOf,
  rangeProblem,
  rangeWords,
  releaseHours,
  seriesRange,
  zoomed,
} from './range.ts';

const now = new Date('2030-01-01T12:00:00.000Z');
const fixed = { from: '2030-01-01T10:00:00.000Z', to: '2030-01-01T11:00:00.000Z' };

it.each([
  ['nothing', {}, {}],
  ['a known range', { range: '6h' }, { range: '6h' }],
  ['an unknown range', { range: '5y' }, {}],
  ['a fixed range', { from: '2030-01-01T10:00:00Z', to: fixed.to }, fixed],
  ['half a range', { from: fixed.from }, {}],
  ['a range that ends first', { from: fixed.to, to: fixed.from }, {}],
  ['no times', { from: 'x', to: 'y' }, {}],
  ['both', { range: '7d', ...fixed }, { range: '7d' }],
])('reads %s from the URL', (_, search, expected) => {
  expect(chartSearch(search)).toEqual(expected);
});

it('asks the server for the range', () => {
  expect(seriesRange({})).toEqual({ minutes: 60 });
  expect(seriesRange({ range: '30d' })).toEqual({ minutes: 43_200 });
  expect(seriesRange(fixed)).toEqual(fixed);
  expect([rangeOf({}), rangeOf({ range: '7d' }), rangeOf(fixed)]).toEqual(['1h', '7d', null]);
});

it('says which one it is', () => {
  expect(rangeWords({ range: '24h' })).toBe('last 24 hours');
  expect(rangeWords(fixed)).toMatch(/^0?1 Jan,? \d\d:00 to 0?1 Jan,? \d\d:00$/);
});

it.each([
  ['a long part', '10:00', '11:00', '10:00', '11:00'],
  ['a short part', '10:00', '10:01', '09:58', '10:03'],
  ['the end', '11:00', '12:30', '11:00', '12:00'],
  ['a click at the end', '12:00', '12:00', '11:55', '12:00'],
])('zooms into %s', (_, from, to, begin, end) => {
  const ms = (time: string) => Date.parse(`2030-01-01T${time}:00Z`);
  const at = (time: string) => new Date(ms(time)).toISOString();
  expect(zoomed(ms(from), ms(to), now)).toEqual({ from: at(begin), to: at(end) });
});

it('looks for releases as far back as the chart goes', () => {
  expect(releaseHours({}, now)).toBe(2);
  expect(releaseHours(fixed, now)).toBe(3);
  expect(releaseHours({ range: '30d' }, now)).toBe(720);
});

it.each([
  [fixed.from, fixed.to, null],
  ['', fixed.to, 'Enter both times.'],
  [fixed.to, fixed.from, 'The start must be before the end and before now.'],
  [
    '2030-01-01T13:00:00Z',
    '2030-01-01T14:00:00Z',
    'The start must be before the end and before now.',
  ],
  ['2029-11-01T13:00:00Z', fixed.to, 'Charts go back 31 days.'],
])('checks %s to %s', (from, to, problem) => {
  const [begin = null, end = null] = [from, to].map((text) => (text ? new Date(text) : null));
  expect(rangeProblem(begin, end, now)).toBe(problem);
});
