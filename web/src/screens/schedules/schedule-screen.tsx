import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { definitionsQuery, scheduleQuery } from '../../api/queries.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { cronWords } from '../../words/queues/cron-words.ts';
import { ownersOf, ownerWords } from '../../words/alerts/owners.ts';
import { nameOf } from '../../words/alerts/troubles.ts';
import { NextRuns } from './next-runs.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { NextRun } from './schedules-screen.tsx';
import { SlotTable } from './slot-table.tsx';

const route = getRouteApi('/schedules/$scheduleId');

export function ScheduleScreen() {
  const { scheduleId } = route.useParams();
  const { data: schedule, error } = useQuery(scheduleQuery(scheduleId));
  if (!schedule) {
    return (
      <Screen title="Schedule">
        <Waiting error={error} />
      </Screen>
    );
  }
  return (
    <Screen title={nameOf(schedule)} actions={<ScheduleActions schedule={schedule} />}>
      <p className="sentence">
        {cronWords(schedule.cron)}, by the clock of {schedule.timezone}.
        {schedule.note !== null && ` ${schedule.note}.`}
      </p>
      <div className="columns">
        <div>
          <NextRuns schedule={schedule} />
          <SlotTable schedule={schedule} />
        </div>
        <div>
          <About schedule={schedule} />
          <Panel title="Params">
            <JsonTree value={schedule.params} />
          </Panel>
        </div>
      </div>
    </Screen>
  );
}

function About({ schedule }: { schedule: ScheduleView }) {
  const { definitionKey, definitionVersion, jitterMs, priority } = schedule;
  const { data: definitions = [] } = useQuery(definitionsQuery());
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Next', <NextRun schedule={schedule} />],
          ['Owner', ownerWords(ownersOf(definitions), [definitionKey])],
          [
            'Definition',
            <Link to="/definitions/$key" params={{ key: definitionKey }}>
              {definitionKey}
            </Link>,
          ],
          ['Version', definitionVersion ?? 'latest published'],
          ['Cron', <code>{schedule.cron}</code>],
          ['Time zone', schedule.timezone],
          ['From', schedule.startAt],
          ['Until', schedule.endAt],
          ['Jitter', jitterMs === 0 ? null : duration(jitterMs)],
          ['DST gap', schedule.dstGap === 'shift' ? 'run immediately after' : 'skip'],
          ['DST repeat', schedule.dstRepeat === 'once' ? 'run once' : 'run twice'],
          ['Catch-up', catchUp(schedule)],
          ['Overlap', schedule.overlap],
          ['Priority', priority === 0 ? null : priority],
          ['Source', schedule.source === 'code' ? 'code of its definition' : 'API'],
        ]}
      />
    </Panel>
  );
}

function catchUp({ catchUp: policy, catchUpWindowMs, catchUpMax }: ScheduleView): string {
  if (policy === 'none') return 'missed slots are skipped';
  const window = duration(catchUpWindowMs);
  return policy === 'latest'
    ? `the latest missed slot within ${window}`
    : `up to ${catchUpMax} missed slots within ${window}`;
}
