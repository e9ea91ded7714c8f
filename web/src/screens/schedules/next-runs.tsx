import { useQuery } from '@tanstack/react-query';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { upcomingQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { momentIn } from '../../words/moment.ts';

const SHOWN = 8;

/** Upcoming runs in the schedule's time zone, with notes about clock changes. */
export function NextRuns({ schedule }: { schedule: ScheduleView }) {
  const { data: next, error } = useQuery(upcomingQuery(schedule, SHOWN));
  if (next?.length === 0) return null;
  return (
    <Panel title="Next runs" aside={schedule.enabled ? undefined : 'after it is resumed'} flush>
      {next === undefined ? (
        <Waiting error={error} />
      ) : (
        <Rows
          caption="Next runs"
          rows={next}
          keyOf={({ at }) => at}
          columns={[
            {
              title: `Time in ${schedule.timezone}`,
              kind: 'short',
              titled: 'in-head',
              cell: ({ at }) =>
                momentIn(
                  at,
                  schedule.timezone,
                  next.map((one) => one.at),
                ),
            },
            { title: 'Offset', kind: 'short', titled: 'in-head', cell: ({ offset }) => offset },
            { title: 'In', kind: 'short', titled: 'in-head', cell: ({ at }) => <Moment at={at} /> },
            { title: 'Note', titled: 'in-head', cell: ({ note }) => note },
          ]}
        />
      )}
    </Panel>
  );
}
