import { expect, test } from 'vitest';
import { changeComplaints, ProblemError } from '../api/problem-error.ts';
import { fieldLabel } from './field-label.ts';

test.each([
  ['/reason', 'Reason'],
  ['/runAt', 'Run at'],
  ['/ratePerSecond', 'Max jobs per second'],
  ['/events/0', 'Events'],
  ['/params/to/0', 'Params (to.0)'],
  ['/concurrencyLimit', 'Jobs at a time'],
])('%s is labelled %s', (pointer, label) => {
  expect(fieldLabel(pointer, { concurrencyLimit: 'Jobs at a time' })).toBe(label);
});

test('a dialog says what is wrong with which of its fields', () => {
  const violations = [
    { pointer: '/ratePerSecond', detail: 'must be greater than 0' },
    { pointer: '', detail: 'has too many fields' },
  ];
  const refused = new ProblemError(400, 'VALIDATION_FAILED', 'it is invalid', violations);
  expect(changeComplaints(refused)).toEqual([
    'Max jobs per second: must be greater than 0.',
    'Has too many fields.',
  ]);
  const failed = new ProblemError(409, 'CONFLICT', 'the job runs');
  expect(changeComplaints(failed)).toEqual(['The job runs.']);
});
