import { expect, test } from 'vitest';
import type { SlotView } from '../../../../src/core/schedule/schedule.ts';
import { ago } from '../made.fixture.ts';
import { failedRuns, slotTone, slotWords } from './slot-words.ts';

const slot = (over: Partial<SlotView>): SlotView => ({
  slot: ago(60),
  local: '2030-01-01T11:59',
  status: 'fired',
  reason: null,
  through: null,
  jobId: 'x',
  jobStatus: 'succeeded',
  ...over,
});

test.each([
  [{}, 'succeeded', 'succeeded'],
  [{ jobStatus: 'failed' }, 'failed', 'failed'],
  [{ jobStatus: 'running', reason: 'triggered' }, 'pending', 'running, manual run'],
  [{ jobStatus: null }, 'succeeded', 'fired'],
  [
    { status: 'skipped', reason: 'overlap' },
    'skipped',
    'skipped, an earlier job was still running',
  ],
] as const)('%j is %s: %s', (over, tone, words) => {
  expect([slotTone(slot(over)), slotWords(slot(over))]).toEqual([tone, words]);
});

test('the last runs that failed are counted up to one that did not', () => {
  const failed = slot({ jobStatus: 'failed' });
  const skipped = slot({ status: 'skipped', reason: 'overlap', jobId: null, jobStatus: null });
  const runs = slot({ jobStatus: 'running' });
  expect(failedRuns([runs, failed, skipped, failed, slot({}), failed])).toHaveLength(2);
  expect(failedRuns([slot({}), failed])).toEqual([]);
  expect(failedRuns([])).toEqual([]);
});
