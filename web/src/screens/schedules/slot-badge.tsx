import { Link } from '@tanstack/react-router';
import type { SlotView } from '../../../../src/core/schedule/schedule.ts';
import { SLOT_TONES, slotTone, slotWords } from '../../words/queues/slot-words.ts';

/** The state of a slot, linked to its job. */
export function SlotBadge({ slot }: { slot: SlotView }) {
  const words = slotWords({ ...slot, reason: null });
  const className = `badge tone-${SLOT_TONES[slotTone(slot)]}`;
  if (slot.jobId === null) return <span className={className}>{words}</span>;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: slot.jobId }} className={className}>
      {words}
    </Link>
  );
}
