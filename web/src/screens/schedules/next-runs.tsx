import { useQuery } from '@tanstack/react-query';
import type { ScheduleView } from '../../../../src/core/schedule.ts';
import { upcomingQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { momentIn } from '../../words/moment.ts';

const SHOWN = 8;

/** When it will run, by its own clock, with what changes of that clock do to it. */
export function NextRuns({ schedule }: { schedule: ScheduleView }) {
  const { data: next = [] } = useQuery(upcomingQuery(schedule, SHOWN));
  if (next.length === 0) return null;
  return (
    <Panel title="Next runs" aside={schedule.enabled ? undefined : 'once it is resumed'} flush>
      <div className="scroll">
        <table className="rows">
          <caption className="visually-hidden">Next runs</caption>
          <thead>
            <tr>
              <th scope="col">Local time</th>
              <th scope="col">Offset</th>
              <th scope="col">In</th>
              <th scope="col">Note</th>
            </tr>
          </thead>
          <tbody>
            {next.map(({ at, offset, note }) => (
              <tr key={at}>
                <td className="nowrap">{momentIn(at, schedule.timezone)}</td>
                <td className="nowrap">{offset}</td>
                <td className="nowrap">
                  <Moment at={at} />
                </td>
                <td>{note ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
