import type { SlotReason, SlotView } from '../../../../src/core/schedule/schedule.ts';

export type SlotTone = 'succeeded' | 'failed' | 'pending' | 'skipped';

/** How a slot ended, as its job did; a slot that made no job was skipped. */
export function slotTone({ status, jobStatus }: SlotView): SlotTone {
  if (status !== 'fired') return 'skipped';
  if (jobStatus === 'failed' || jobStatus === 'cancelled') return 'failed';
  // A job that retention has removed had ended long ago.
  return jobStatus === 'succeeded' || jobStatus === null ? 'succeeded' : 'pending';
}

/** In which colour that is told. */
export const SLOT_TONES: Record<SlotTone, string> = {
  succeeded: 'good',
  failed: 'bad',
  pending: 'busy',
  skipped: 'warn',
};

const REASONS: Record<SlotReason, string> = {
  triggered: 'started by a person',
  caught_up: 'missed, and made good for',
  dst_gap: 'its local time did not exist, because clocks went forward',
  missed: 'nobody was there in time',
  catch_up_window: 'missed for longer than its catch-up window',
  catch_up_max: 'more were missed than are made good for',
  newer_slot: 'a newer slot fired for it',
  overlap: 'an earlier job was not over',
  paused: 'the schedule was paused',
  changed: 'the schedule was changed',
};

export function slotWords({ status, jobStatus, reason }: SlotView): string {
  const how = status === 'fired' ? (jobStatus ?? 'fired') : status;
  return reason === null ? how : `${how}, ${REASONS[reason]}`;
}
