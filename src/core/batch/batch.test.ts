import { describe, expect, it } from 'vitest';
import type { JobState } from '../job/job.ts';
import {
  BATCH_OPEN,
  batchProblem,
  batchResult,
  type BatchStatus,
  batchStatus,
  countsText,
  noneToRetry,
  openBatchSentence,
} from './batch.ts';

const counts = (succeeded: number, failed: number, cancelled: number, pending = 0) => {
  const total = succeeded + failed + cancelled + pending;
  return { total, pending, succeeded, failed, cancelled };
};

describe('batchStatus', () => {
  const rows: [JobState, string | null, BatchStatus][] = [
    ['suspended', BATCH_OPEN, 'open'],
    ['suspended', ':children', 'running'],
    ['queued', null, 'running'],
    ['running', null, 'running'],
    ['suspended', ':children:cancelled', 'cancelling'],
    ['cancelling', null, 'cancelling'],
    ['succeeded', null, 'succeeded'],
    ['failed', null, 'failed'],
    ['cancelled', null, 'cancelled'],
  ];
  it.each(rows)('%s that waits for %s is %s', (state, waitsFor, status) => {
    expect(batchStatus(state, waitsFor)).toBe(status);
  });
});

describe('the end of a batch', () => {
  it.each([
    [counts(0, 0, 0), null],
    [counts(5, 0, 0), null],
    [counts(0, 1, 0), '1 of 1 job did not succeed: 1 failed, 0 cancelled'],
    [counts(97, 2, 1), '3 of 100 jobs did not succeed: 2 failed, 1 cancelled'],
  ])('of %o has the problem %s', (of, problem) => {
    expect(batchProblem(of)).toBe(problem);
  });

  it('has the counts as its result', () => {
    expect(batchResult(counts(2, 0, 0))).toEqual({
      total: 2,
      succeeded: 2,
      failed: 0,
      cancelled: 0,
    });
  });
});

describe('an open batch', () => {
  it.each([
    [0, 0, 'and has none yet.'],
    [10, 3, '3 of its 10 jobs have not ended.'],
    [10, 0, 'all of its 10 jobs have ended.'],
    [1, 1, '1 of its 1 job has not ended.'],
  ])('of %i jobs, %i not ended, says so', (total, open, words) => {
    const sentence = openBatchSentence({ total, open });
    expect(sentence).toMatch(/^It accepts jobs until it is closed[;,] /);
    expect(sentence.endsWith(words)).toBe(true);
  });
});

describe('words about a batch', () => {
  it('count its jobs', () => {
    expect(countsText(counts(2, 1, 0, 4))).toBe(
      '7 jobs: 4 pending, 2 succeeded, 1 failed, 0 cancelled',
    );
    expect(countsText(counts(1, 0, 0))).toMatch(/^1 job: /);
  });

  it('say why nothing is retried', () => {
    expect(noneToRetry(1)).toBe('the job that did not succeed is deleted and cannot be retried');
    expect(noneToRetry(2)).toBe('the jobs that did not succeed are deleted and cannot be retried');
  });
});
