import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ScheduleView } from '../../../../src/core/schedule.ts';
import { schedulesQuery } from '../../api/queries.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { cronWords } from '../../words/cron-words.ts';
import { nameOf } from '../../words/troubles.ts';
import { textOf } from '../../words/url-search.ts';
import { ScheduleActions } from './schedule-actions.tsx';
import { SlotStrip } from './slot-strip.tsx';

const route = getRouteApi('/schedules');

export function schedulesSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

/** Did it fire, on time, and how did that end? */
export function SchedulesScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(schedulesQuery(cursor));
  return (
    <Screen title="Schedules">
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.schedules.length === 0 ? (
        <NoSchedules />
      ) : (
        <>
          <ScheduleTable schedules={page.schedules} />
          {page.nextCursor !== null && (
            <nav className="pages" aria-label="Pages">
              <Link to="/schedules" search={{ cursor: page.nextCursor }} className="button">
                Next page
              </Link>
            </nav>
          )}
        </>
      )}
    </Screen>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly ScheduleView[] }) {
  return (
    <div className="scroll">
      <table className="rows">
        <caption className="visually-hidden">Schedules</caption>
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">When</th>
            <th scope="col">Next</th>
            <th scope="col">Latest slots</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <tr key={schedule.id}>
              <td>
                <Link
                  to="/schedules/$scheduleId"
                  params={{ scheduleId: schedule.id }}
                  className="row-link"
                  data-row
                >
                  {nameOf(schedule)}
                </Link>
                <span className="summary">{schedule.definitionKey}</span>
              </td>
              <td>
                {cronWords(schedule.cron)}
                <span className="summary">
                  {schedule.cron} · {schedule.timezone}
                </span>
              </td>
              <td className="nowrap">
                <NextRun schedule={schedule} />
              </td>
              <td>
                <SlotStrip schedule={schedule} />
              </td>
              <td>
                <div className="row-actions">
                  <ScheduleActions schedule={schedule} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function NextRun({ schedule: { enabled, nextAt } }: { schedule: ScheduleView }) {
  if (!enabled) return <span className="badge tone-warn">paused</span>;
  if (nextAt === null) return <span className="badge">over</span>;
  return <Moment at={nextAt} />;
}

function NoSchedules() {
  return (
    <Empty title="No schedule yet.">
      <p>Give a definition one in its code, or make one:</p>
      <Command text="npx longshore schedules create KEY '0 3 * * *' --timezone Europe/Berlin" />
    </Empty>
  );
}
