import { expect, test } from 'vitest';
import { noticeIn } from './notices.ts';

const line = (fields: Record<string, unknown>) => JSON.stringify({ level: 40, ...fields });

test.each([
  [
    { msg: 'a stale outcome was refused: the job has moved on', jobId: 'j', claim: 2 },
    { what: 'stale-refused', job: 'j', claim: 2 },
  ],
  [
    { msg: 'a job of ours does not run here; returning it', jobId: 'j', claim: 1 },
    { what: 'given-back', job: 'j', claim: 1 },
  ],
  [
    { msg: 'job.reclaimed', jobId: 'j' },
    { what: 'reclaimed', job: 'j' },
  ],
  [
    { msg: 'fenced: stopping all jobs', reason: 'this worker was declared dead' },
    { what: 'declared-dead' },
  ],
  [
    { msg: 'fenced: stopping all jobs', reason: 'the lease could not be renewed' },
    { what: 'self-fenced' },
  ],
  [{ msg: 'tick failed' }, null],
])('%j', (fields, notice) => {
  expect(noticeIn(line(fields))).toEqual(notice);
});

test('half a line is no notice', () => {
  expect(noticeIn('{"msg":"job.reclaimed","jo')).toBeNull();
});
