import { useQuery } from '@tanstack/react-query';
import type { ScheduleView, SlotView } from '../../../../src/core/schedule/schedule.ts';
import { slotsQuery } from '../../api/queries.ts';
import { momentIn } from '../../words/moment.ts';
import { slotTone, slotWords } from '../../words/queues/slot-words.ts';

const SHOWN = 24;
const SLOT_WIDTH = 6;

/** The latest slots, oldest on the left, coloured by outcome. */
export function SlotStrip({ schedule }: { schedule: ScheduleView }) {
  const { data: slots = [] } = useQuery(slotsQuery(schedule, SHOWN));
  if (slots.length === 0) return <span className="soft">none yet</span>;
  const oldestFirst = [...slots].reverse();
  return (
    <svg
      className="strip"
      width={slots.length * SLOT_WIDTH - 2}
      height={16}
      role="img"
      aria-label={stripWords(oldestFirst)}
    >
      {oldestFirst.map((slot, index) => (
        <rect
          key={`${slot.slot} ${slot.jobId}`}
          className={`slot slot-${slotTone(slot)}`}
          x={index * SLOT_WIDTH}
          width={SLOT_WIDTH - 2}
          height="16"
          rx="1.5"
        >
          <title>{`${momentIn(slot.slot, schedule.timezone)}: ${slotWords(slot)}`}</title>
        </rect>
      ))}
    </svg>
  );
}

function stripWords(slots: readonly SlotView[]): string {
  const counts = Map.groupBy(slots, slotTone);
  const words = [...counts].map(([tone, all]) => `${all.length} ${tone}`);
  return `Latest ${slots.length} slots: ${words.join(', ')}`;
}
