import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ScheduleView, SlotView } from '../../../../src/core/schedule/schedule.ts';
import { definitionsQuery, schedulesQuery } from '../../api/queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { cronWords } from '../../words/queues/cron-words.ts';
import { ownersOf, ownerWords } from '../../../../src/core/definition/owners.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { nameOf } from '../../../../src/core/problems/problems.ts';
import { ScheduleActions } from './schedule-actions.tsx';
import { SlotBadge } from './slot-badge.tsx';
import { SlotStrip } from './slot-strip.tsx';
import { DefinitionLine } from './unknown-notice.tsx';

const route = getRouteApi('/schedules');

export function SchedulesScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(schedulesQuery(cursor));
  return (
    <Screen
      title="Schedules"
      actions={
        <Allowed scope="operate">
          <Link to="/schedules/new" className="button primary">
            New schedule
          </Link>
        </Allowed>
      }
    >
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.schedules.length === 0 ? (
        <NoSchedules />
      ) : (
        <ScheduleTable schedules={page.schedules} />
      )}
      {page && <Pages to="/schedules" search={{ cursor }} nextCursor={page.nextCursor} />}
    </Screen>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly ScheduleView[] }) {
  const { data: definitions } = useQuery(definitionsQuery());
  const owners = definitions && ownersOf(definitions);
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
              </Link>{' '}
              {schedule.source === 'code' && (
                <span
                  className="badge"
                  title="Comes from the code of its definition: change it there"
                >
                  code
                </span>
              )}
              <DefinitionLine
                schedule={schedule}
                owner={owners && ownerWords(owners, [schedule.definitionKey])}
              />
            </>
          ),
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
        {
          title: 'Latest slots',
          spare: true,
          cell: (schedule) => <SlotStrip schedule={schedule} />,
        },
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

export function NextRun({ schedule }: { schedule: ScheduleView }) {
  const { enabled, nextAt, paused } = schedule;
  if (!enabled) {
    return (
      <>
        <span className="badge tone-warn">paused</span>
        {paused?.reason && <span className="summary">{plainText(paused.reason)}</span>}
      </>
    );
  }
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
