import { expect, test } from 'vitest';
import type { SlotView } from '../../../../src/core/schedule/schedule.ts';
import { ago } from '../made.fixture.ts';
import { slotTone, slotWords } from './slot-words.ts';

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
