import { expect, it } from 'vitest';
import { definitionJobs, versionJobs } from '../../core/deployment/version-jobs.ts';
import { differenceLines, jobsLines } from './deployment-text.ts';

const NONE = { waiting: 0, running: 0, succeeded: 0, failed: 0, attempts: 0, failedAttempts: 0 };

it('shows the jobs of a version beside those of the version before', () => {
  const now = { ...NONE, waiting: 12, running: 4, succeeded: 310, failed: 41 };
  const before = { ...NONE, succeeded: 9_020, failed: 3, attempts: 9_051, failedAttempts: 31 };
  const mail = definitionJobs(
    'mail',
    versionJobs(7, { ...now, attempts: 351, failedAttempts: 41 }),
    versionJobs(6, before),
  );
  expect(jobsLines([mail, definitionJobs('sync', versionJobs(7), null)], 100)).toEqual([
    'DEFINITION  VERSION     WAITING  RUNNING  SUCCEEDED  FAILED  FAILED ATTEMPTS',
    'mail        7           12       4        310        41      11.7% (41 of 351)',
    '            6 (before)  0        0        9020       3       0.3% (31 of 9051)',
    'sync        7           0        0        0          0       -',
    '! mail: 41 of 351 attempts failed, of the version before 31 of 9051',
  ]);
});

it('says what a new schema would reject', () => {
  const id = '01a1dddb-0337-7000-85fd-f7cdc5555800';
  const check = {
    key: 'mail',
    jobsChecked: 40,
    jobsRejected: 3,
    schedulesChecked: 2,
    schedulesRejected: 1,
    unreadable: 2,
    isPartial: true,
    misfits: [{ kind: 'job' as const, id, reason: 'params/to: is required' }],
  };
  const changes = [{ key: 'mail', change: 'changed' as const, fields: ['params'] }];
  const fits = { ...check, jobsRejected: 0, schedulesRejected: 0, unreadable: 0, isPartial: false };
  expect(differenceLines({ changes, schemaChecks: [check, { ...fits, misfits: [] }] })).toEqual([
    '~ mail  params',
    '! mail  the new schema would reject 3 of 40 waiting jobs and 1 of 2 schedules',
    `    job ${id}: params/to: is required`,
    '! mail  2 could not be decrypted, and were not checked',
    '! mail  more wait than were checked',
  ]);
});
