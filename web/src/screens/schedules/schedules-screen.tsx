import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ScheduleView, SlotView } from '../../../../src/core/schedule/schedule.ts';
import { definitionsQuery, schedulesQuery } from '../../api/queries.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { cronWords } from '../../words/queues/cron-words.ts';
import { ownersOf, ownerWords } from '../../words/alerts/owners.ts';
import { nameOf } from '../../words/alerts/troubles.ts';
import { textOf } from '../../words/url-search.ts';
import { ScheduleActions } from './schedule-actions.tsx';
import { SlotBadge } from './slot-badge.tsx';
import { SlotStrip } from './slot-strip.tsx';

const route = getRouteApi('/schedules');

export function schedulesSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

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
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const owners = ownersOf(definitions);
  return (
    <Rows
      caption="Schedules"
      rows={schedules}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Schedule',
          titled: 'in-head',
          cell: (schedule) => (
            <>
              <Link
                to="/schedules/$scheduleId"
                params={{ scheduleId: schedule.id }}
                className="row-link"
                data-row
              >
                {nameOf(schedule)}
              </Link>
              <span className="summary">{schedule.definitionKey}</span>
            </>
          ),
        },
        {
          title: 'Owner',
          kind: 'short',
          cell: ({ definitionKey }) => ownerWords(owners, [definitionKey]),
        },
        {
          title: 'When',
          titled: 'in-head',
          cell: ({ cron, timezone }) => (
            <>
              {cronWords(cron)}
              <span className="summary">
                {cron} · {timezone}
              </span>
            </>
          ),
        },
        { title: 'Next', kind: 'short', cell: (schedule) => <NextRun schedule={schedule} /> },
        { title: 'Last', kind: 'short', cell: ({ lastSlot }) => <LastRun slot={lastSlot} /> },
        { title: 'Latest slots', cell: (schedule) => <SlotStrip schedule={schedule} /> },
        {
          title: 'Actions',
          titled: 'aloud',
          cell: (schedule) => (
            <div className="row-actions">
              <ScheduleActions schedule={schedule} />
            </div>
          ),
        },
      ]}
    />
  );
}

function LastRun({ slot }: { slot: SlotView | null }) {
  if (slot === null) return <span className="soft">never</span>;
  return (
    <>
      <Moment at={slot.slot} /> <SlotBadge slot={slot} />
    </>
  );
}

export function NextRun({ schedule: { enabled, nextAt } }: { schedule: ScheduleView }) {
  if (!enabled) return <span className="badge tone-warn">paused</span>;
  if (nextAt === null) return <span className="badge">over</span>;
  return <Moment at={nextAt} />;
}

function NoSchedules() {
  return (
    <Empty title="No schedules yet.">
      <p>Declare one in a definition’s code, or create one:</p>
      <Command text="npx longshore schedules create KEY '0 3 * * *' --timezone Europe/Berlin" />
    </Empty>
  );
}
