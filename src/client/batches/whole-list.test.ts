import { expect, it } from 'vitest';
import { InvalidRequest } from '../http/problems.ts';
import { ofWholeList } from './whole-list.ts';

const refusal = new InvalidRequest(400, 'VALIDATION_FAILED', '/jobs/7/params: wrong', [
  { pointer: '/jobs/7/params', detail: 'wrong' },
]);

it('moves the places of a part to those of the list', () => {
  const moved = ofWholeList(refusal, 2_000);
  expect(moved).toBeInstanceOf(InvalidRequest);
  expect(moved).toMatchObject({
    code: 'VALIDATION_FAILED',
    message: '/jobs/2007/params: wrong',
    errors: [{ pointer: '/jobs/2007/params', detail: 'wrong' }],
  });
});

it('keeps other errors, and those of the first part', () => {
  expect(ofWholeList(refusal, 0)).toBe(refusal);
  const other = new Error('no network');
  expect(ofWholeList(other, 2_000)).toBe(other);
});
