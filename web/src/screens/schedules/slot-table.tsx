import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ScheduleView, SlotView } from '../../../../src/core/schedule/schedule.ts';
import { slotsQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { momentIn } from '../../words/moment.ts';
import { failedRuns, SLOT_TONES, slotTone, slotWords } from '../../words/queues/slot-words.ts';
import { SlotStrip } from './slot-strip.tsx';

const SHOWN = 24;

/** Slots of the schedule, newest first. */
export function SlotTable({ schedule }: { schedule: ScheduleView }) {
  const { data: slots, error } = useQuery(slotsQuery(schedule, SHOWN));
  return (
    <Panel title="Past runs" aside={<SlotStrip schedule={schedule} />} flush>
      <FailedRuns slots={slots ?? []} />
      {slots === undefined ? (
        <Waiting error={error} />
      ) : slots.length === 0 ? (
        <p className="soft pad">Not due yet.</p>
      ) : (
        <Rows
          caption="Slots, newest first"
          rows={slots}
          keyOf={({ slot, jobId }) => `${slot} ${jobId}`}
          columns={[
            {
              title: `Time in ${schedule.timezone}`,
              kind: 'short',
              titled: 'in-head',
              cell: ({ slot }) =>
                momentIn(
                  slot,
                  schedule.timezone,
                  slots.map((one) => one.slot),
                ),
            },
            {
              title: 'When',
              kind: 'short',
              titled: 'in-head',
              cell: ({ slot }) => <Moment at={slot} />,
            },
            {
              title: 'Outcome',
              titled: 'in-head',
              cell: (slot) => (
                <span className={`badge tone-${SLOT_TONES[slotTone(slot)]}`}>
                  {slotWords(slot)}
                </span>
              ),
            },
            {
              title: 'Job',
              titled: 'in-head',
              cell: ({ jobId }) =>
                jobId !== null && (
                  <Link to="/jobs/$jobId" params={{ jobId }} data-row>
                    View job
                  </Link>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** The newest runs, if all of them failed. */
function FailedRuns({ slots }: { slots: readonly SlotView[] }) {
  const failed = failedRuns(slots);
  const jobId = failed[0]?.jobId ?? null;
  if (jobId === null) return null;
  return (
    <p className="bad-text pad">
      {failed.length === 1 ? 'The last run failed.' : `The last ${failed.length} runs failed.`}{' '}
      <Link to="/jobs/$jobId" params={{ jobId }}>
        See why
      </Link>
    </p>
  );
}
