import { expect, test } from 'vitest';
import { nearestName, unknownName } from './nearest.ts';

const KNOWN = ['params', 'priority', 'maxAttempts', 'runAt', 'tags'];

test.each([
  ['prams', 'params'],
  ['param', 'params'],
  ['PARAMS', 'params'],
  ['maxattempts', 'maxAttempts'],
  ['max_attempts', 'maxAttempts'],
  ['proirity', 'priority'],
  ['tag', 'tags'],
  ['runat', 'runAt'],
  ['rnuAt', 'runAt'],
  ['attempts', 'maxAttempts'],
  ['status', null],
  ['tenant', null],
  ['colour', null],
  ['x', null],
  ['', null],
  ['maximumNumberOfAttempts', null],
])('"%s" was meant to be %s', (typed, expected) => {
  expect(nearestName(typed, KNOWN)).toBe(expected);
});

test('of two equally near names the first is offered', () => {
  expect(nearestName('bat', ['cat', 'hat'])).toBe('cat');
});

test('nothing is near when nothing is known', () => expect(nearestName('params', [])).toBeNull());

test.each([
  ['prams', 'unknown field "prams": did you mean "params"?'],
  ['colour', `unknown field "colour": known are ${KNOWN.join(', ')}`],
  ['x'.repeat(61), `unknown field "${'x'.repeat(60)}…": known are ${KNOWN.join(', ')}`],
  ['x'.repeat(60), `unknown field "${'x'.repeat(60)}": known are ${KNOWN.join(', ')}`],
])('the sentence about "%s"', (typed, sentence) => {
  expect(unknownName('field', typed, KNOWN)).toBe(sentence);
});

test('a long list of known names is left out', () => {
  const many = Array.from({ length: 50 }, (_, index) => `name${index}`);
  expect(unknownName('field', 'other', many)).toBe('unknown field "other"');
});

test('a name of a megabyte costs no more than a short one', () => {
  const startMs = performance.now();
  unknownName(
    'field',
    'x'.repeat(1e6),
    Array.from({ length: 50 }, (_, index) => `name${index}`),
  );
  expect(performance.now() - startMs).toBeLessThan(500);
});
