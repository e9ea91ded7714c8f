import type { SlotReason, SlotView } from '../../../../src/core/schedule/schedule.ts';

export type SlotTone = 'succeeded' | 'failed' | 'pending' | 'skipped';

/** Outcome of a slot: that of its job, or skipped if it has none. */
export function slotTone({ status, jobStatus }: SlotView): SlotTone {
  if (status !== 'fired') return 'skipped';
  if (jobStatus === 'failed' || jobStatus === 'cancelled') return 'failed';
  // Retention has removed the job, so it finished long ago.
  return jobStatus === 'succeeded' || jobStatus === null ? 'succeeded' : 'pending';
}

/** Colours of the outcomes. */
export const SLOT_TONES: Record<SlotTone, string> = {
  succeeded: 'good',
  failed: 'bad',
  pending: 'busy',
  skipped: 'warn',
};

const REASONS: Record<SlotReason, string> = {
  triggered: 'manual run',
  caught_up: 'caught up after it was missed',
  dst_gap: 'DST gap: its local time did not exist',
  missed: 'no scheduler was running',
  catch_up_window: 'missed for longer than its catch-up window',
  catch_up_max: 'more slots were missed than catch-up allows',
  newer_slot: 'replaced by a newer slot',
  overlap: 'an earlier job was still running',
  paused: 'the schedule was paused',
  changed: 'the schedule was changed',
};

export function slotWords({ status, jobStatus, reason }: SlotView): string {
  const how = status === 'fired' ? (jobStatus ?? 'fired') : status;
  return reason === null ? how : `${how}, ${REASONS[reason]}`;
}

/** The newest runs up to the last one that did not fail. Skipped slots and unfinished jobs do not count. */
export function failedRuns(slots: readonly SlotView[]): SlotView[] {
  const ended = slots.filter((slot) => ['succeeded', 'failed'].includes(slotTone(slot)));
  const end = ended.findIndex((slot) => slotTone(slot) !== 'failed');
  return end === -1 ? ended : ended.slice(0, end);
}
