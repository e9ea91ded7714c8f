import { expect, test } from 'vitest';
import {
  maybeRunner,
  NOBODY_UID,
  POSTGRES_UID,
  RUNNER_UIDS,
  runnerUidProblem,
} from './machine-users.ts';

test.each<[range: { first: number; last: number }, databaseUid: number, refused: boolean]>([
  [RUNNER_UIDS, POSTGRES_UID, false],
  [{ first: POSTGRES_UID, last: POSTGRES_UID }, POSTGRES_UID, true],
  // Also when the cluster at hand belongs to another user: the next one would not.
  [{ first: POSTGRES_UID, last: POSTGRES_UID }, 1_000, true],
  [{ first: 1_000, last: 1_000 }, 1_000, true],
  [{ first: 60_000, last: 69_999 }, 1_000, true],
  [{ first: NOBODY_UID, last: NOBODY_UID }, POSTGRES_UID, false],
  [{ first: NOBODY_UID, last: NOBODY_UID }, NOBODY_UID, true],
])('runners with %j beside a database of uid %j', (range, databaseUid, refused) => {
  expect(runnerUidProblem(range, databaseUid) !== null).toBe(refused);
});

test.each<[users: number[] | null, ranges: { first: number; last: number }[], expected: boolean]>([
  [[1_000], [RUNNER_UIDS], false],
  [[0], [RUNNER_UIDS], false],
  [[70_000], [RUNNER_UIDS], true],
  [[1_000, 70_000], [RUNNER_UIDS], true],
  [[], [RUNNER_UIDS], true],
  [null, [RUNNER_UIDS], false],
  [[], [], false],
])('a peer of %j among %j may be a job: %s', (users, ranges, expected) => {
  expect(maybeRunner(users, ranges)).toBe(expected);
});

test('the problem names the uid and says what to do', () => {
  expect(runnerUidProblem({ first: 65_000, last: 66_000 })).toContain('uid 65525 of 65000-66000');
});
