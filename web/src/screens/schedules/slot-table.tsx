import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ScheduleView } from '../../../../src/core/schedule.ts';
import { slotsQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Moment } from '../../parts/moment.tsx';
import { momentIn } from '../../words/moment.ts';
import { slotTone, slotWords } from '../../words/slot-words.ts';
import { SlotStrip } from './slot-strip.tsx';

const SHOWN = 24;
const TONES = { succeeded: 'good', failed: 'bad', pending: 'busy', skipped: 'warn' } as const;

/** What became of its slots, the newest first. */
export function SlotTable({ schedule }: { schedule: ScheduleView }) {
  const { data: slots } = useQuery(slotsQuery(schedule, SHOWN));
  return (
    <Panel title="Slots" aside={<SlotStrip schedule={schedule} />} flush>
      {slots === undefined || slots.length === 0 ? (
        <p className="soft pad">It has not been due yet.</p>
      ) : (
        <div className="scroll">
          <table className="rows">
            <caption className="visually-hidden">Slots, the newest first</caption>
            <thead>
              <tr>
                <th scope="col">Local time</th>
                <th scope="col">When</th>
                <th scope="col">How it went</th>
                <th scope="col">Job</th>
              </tr>
            </thead>
            <tbody>
              {slots.map((slot) => (
                <tr key={`${slot.slot} ${slot.jobId}`}>
                  <td className="nowrap">{momentIn(slot.slot, schedule.timezone)}</td>
                  <td className="nowrap">
                    <Moment at={slot.slot} />
                  </td>
                  <td>
                    <span className={`badge tone-${TONES[slotTone(slot)]}`}>{slotWords(slot)}</span>
                  </td>
                  <td>
                    {slot.jobId !== null && (
                      <Link to="/jobs/$jobId" params={{ jobId: slot.jobId }} data-row>
                        Look at it
                      </Link>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
