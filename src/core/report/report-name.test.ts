import { expect, test } from 'vitest';
import { isOutdated, isReportName, reportName } from './report-name.ts';

const HASH = '9f'.repeat(32);
const name = reportName('acme', new Date('2030-01-08T23:59:59.999Z'), HASH);

test('a name says whose report it is, until when, and what it contains', () => {
  expect(name).toBe(`acme.2030-01-08.${HASH}`);
  expect(isReportName(name)).toBe(true);
});

test.each(['', HASH, `.2030-01-08.${HASH}`, `../x.2030-01-08.${HASH}`, `${name}/x`, `${name}\n`])(
  '%j is no name of a report',
  (wrong) => expect([isReportName(wrong), isOutdated(wrong, new Date())]).toEqual([false, false]),
);

test.each([
  ['2030-01-08T23:59:59.999Z', false],
  ['2030-01-09T00:00:00.000Z', true],
])('at %s it is outdated: %s', (now, expected) => {
  expect(isOutdated(name, new Date(now))).toBe(expected);
});
