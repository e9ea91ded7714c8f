import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { definitionsQuery, scheduleQuery } from '../../api/queries.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { cronSentence } from '../../words/queues/cron-words.ts';
import { ownersOf, ownerWords } from '../../../../src/core/definition/owners.ts';
import { nameOf } from '../../../../src/core/problems/problems.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { momentIn } from '../../words/moment.ts';
import { pauseOf } from '../../words/queues/pause-words.ts';
import { POLICY_WORDS } from '../../words/queues/schedule-draft.ts';
import { PauseNotice } from '../definitions/pause-part.tsx';
import { NextRuns } from './next-runs.tsx';
import { AllScheduleActions } from './schedule-actions.tsx';
import { NextRun } from './schedules-screen.tsx';
import { SlotTable } from './slot-table.tsx';
import { UnknownNotice } from './unknown-notice.tsx';

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
    <Screen title={nameOf(schedule)} actions={<AllScheduleActions schedule={schedule} />}>
      <p className="sentence">
        {cronSentence(schedule.cron, schedule.timezone)}
        {schedule.note !== null && ` ${sentenceCase(schedule.note)}.`}
      </p>
      <UnknownNotice schedule={schedule} />
      {schedule.paused && <PauseNotice pause={pauseOf(schedule)} />}
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
  const { data: definitions } = useQuery(definitionsQuery());
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Next', <NextRun schedule={schedule} />],
          ['Owner', definitions && ownerWords(ownersOf(definitions), [definitionKey])],
          [
            'Definition',
            <Link to="/definitions/$key" params={{ key: definitionKey }}>
              {definitionKey}
            </Link>,
          ],
          ['Version', definitionVersion ?? 'latest published'],
          ['Cron', <code>{schedule.cron}</code>],
          ['Time zone', schedule.timezone],
          ['From', schedule.startAt && momentIn(schedule.startAt, schedule.timezone)],
          ['Until', schedule.endAt && momentIn(schedule.endAt, schedule.timezone)],
          ['Jitter', jitterMs === 0 ? null : duration(jitterMs)],
          ['DST gap', POLICY_WORDS.dstGap[schedule.dstGap]],
          ['DST repeat', POLICY_WORDS.dstRepeat[schedule.dstRepeat]],
          ['Catch-up', catchUp(schedule)],
          ['Overlap', POLICY_WORDS.overlap[schedule.overlap]],
          ['Priority', priority === 0 ? null : priority],
          [
            'Source',
            schedule.source === 'code'
              ? `code of ${definitionKey}: change it there and restart its workers`
              : 'API',
          ],
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
