import { describe, expect, it } from 'vitest';
import type { BatchView } from '../../../../src/core/batch/batch.ts';
import {
  barParts,
  batchSearch,
  batchSentence,
  batchTitle,
  cancelBatchWords,
  countWords,
  mayCancelBatch,
  retryLabel,
} from './batch-words.ts';

const ID = '01a1eeca-8ea2-7005-85c5-3531b89fe400';

function made(changes: Partial<BatchView> = {}): BatchView {
  const counts = { pending: 0, succeeded: 0, failed: 0, cancelled: 0, ...changes };
  return {
    id: ID,
    name: null,
    status: 'running',
    onComplete: null,
    onSuccess: null,
    createdAt: '2030-01-01T00:00:00.000Z',
    closedAt: null,
    endedAt: null,
    ...changes,
    ...counts,
    total: counts.pending + counts.succeeded + counts.failed + counts.cancelled,
  };
}

it('has its name as title, or the end of its id', () => {
  expect(batchTitle(made({ name: 'nightly' }))).toBe('nightly');
  expect(batchTitle(made())).toBe('Batch 3531b89fe400');
  expect(batchTitle(made({ name: 'a\u202eb' }))).not.toContain('\u202e');
});

describe('batchSentence', () => {
  const endedAt = '2030-01-01T00:00:04.000Z';
  it.each([
    [{ status: 'open' }, 'Open: it accepts jobs until it is closed. It has no jobs yet.'],
    [
      { status: 'open', pending: 1, succeeded: 1 },
      'Open: it accepts jobs until it is closed. 1 of 2 jobs has ended.',
    ],
    [{ pending: 1_200 }, 'Running: 0 of 1,200 jobs have ended.'],
    [
      { pending: 3, succeeded: 5, failed: 1, cancelled: 1 },
      'Running: 7 of 10 jobs have ended, 1 failed, 1 cancelled.',
    ],
    [{ succeeded: 2 }, 'Running: 2 of 2 jobs have ended; it is about to end.'],
    [{ status: 'succeeded', endedAt }, 'Succeeded: it had no jobs.'],
    [{ status: 'succeeded', succeeded: 1, endedAt }, 'Succeeded: its job in 4 s.'],
    [{ status: 'succeeded', succeeded: 3, endedAt }, 'Succeeded: all 3 jobs in 4 s.'],
    [{ status: 'failed', succeeded: 8, failed: 2, endedAt }, 'Failed: 2 failed of 10 jobs in 4 s.'],
    [{ status: 'cancelling', pending: 1, cancelled: 2 }, 'Cancelling: 1 of 3 jobs has not ended.'],
    [
      { status: 'cancelled', pending: 1, succeeded: 1, endedAt },
      'Cancelled: 1 of 2 jobs has not ended.',
    ],
    [
      { status: 'cancelled', cancelled: 1, succeeded: 1, endedAt },
      'Cancelled: 1 of 2 jobs had succeeded.',
    ],
  ] as const)('of %o', (changes, sentence) => {
    expect(batchSentence(made(changes))).toBe(sentence);
  });
});

describe('the progress bar', () => {
  it('fills its width, and shows a few failed jobs among many', () => {
    const parts = barParts(made({ succeeded: 99_999, failed: 1 }));
    expect(parts.map(({ state, jobs }) => [state, jobs])).toEqual([
      ['succeeded', 99_999],
      ['failed', 1],
    ]);
    expect(parts[1]?.percent).toBeGreaterThan(1);
    expect(parts.reduce((sum, { percent }) => sum + percent, 0)).toBeCloseTo(100);
  });

  it('is empty without jobs', () => {
    expect(barParts(made())).toEqual([]);
    expect(countWords(made())).toBe('no jobs');
  });

  it('has its counts in words', () => {
    expect(countWords(made({ succeeded: 1_000, pending: 2 }))).toBe('1,000 succeeded · 2 pending');
  });
});

it('offers to retry what did not succeed', () => {
  expect(retryLabel(made({ succeeded: 3 }))).toBeNull();
  expect(retryLabel(made({ failed: 1 }))).toBe('Retry 1 job');
  expect(retryLabel(made({ failed: 2, cancelled: 1 }))).toBe('Retry 3 jobs');
});

it('says what a cancel does', () => {
  expect(cancelBatchWords(made({ pending: 2, onComplete: ID }))).toBe(
    'Its 2 jobs that have not ended are cancelled; running ones are asked to stop. onComplete still runs.',
  );
  expect(cancelBatchWords(made({ pending: 1 }))).toMatch(/^Its job that has not ended/);
  expect(cancelBatchWords(made({ onSuccess: ID }))).toBe(
    'All its jobs have ended. onSuccess does not run.',
  );
  expect(mayCancelBatch(made({ status: 'open' }))).toBe(true);
  expect(mayCancelBatch(made({ status: 'cancelled', pending: 1 }))).toBe(true);
  expect(mayCancelBatch(made({ status: 'cancelling', pending: 1 }))).toBe(false);
  expect(mayCancelBatch(made({ status: 'failed', failed: 1 }))).toBe(false);
});

it('reads the search of its page', () => {
  expect(batchSearch({ state: 'failed', cursor: 'c', other: 1 })).toEqual({
    state: 'failed',
    cursor: 'c',
  });
  expect(batchSearch({ state: 'broken' })).toEqual({});
});
