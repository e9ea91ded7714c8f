import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery, jobsQuery, workersQuery } from '../../api/queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { FailuresPanel } from '../../parts/failures-panel.tsx';
import { Icon } from '../../parts/icon.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { RunbookLink } from '../../parts/runbook-link.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { cronWords } from '../../words/queues/cron-words.ts';
import { isolationWords, newestVersions, retryWords } from '../../words/queues/definition-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { LimitsPanel } from './limits-panel.tsx';
import { PauseButton, PauseNotice } from './pause-part.tsx';
import { RatesPanel } from './rates-panel.tsx';
import { RunForm } from './run-form.tsx';

const route = getRouteApi('/definitions/$key');
const LATEST = 8;

export function DefinitionScreen() {
  const { key } = route.useParams();
  const { data: definitions, error } = useQuery(definitionsQuery());
  const { data: page } = useQuery(jobsQuery({ definitionKey: key, limit: LATEST }));
  const { data: failures } = useQuery(groupsQuery({ definitionKey: key, window: '24h' }));
  const definition = newestVersions(definitions ?? []).find((one) => one.key === key);
  if (!definition || !page) {
    return (
      <Screen title={key}>
        {definitions && !definition ? (
          <Empty title={`No worker has registered “${key}”.`} />
        ) : (
          <Waiting error={error} />
        )}
      </Screen>
    );
  }
  return (
    <Screen title={key} actions={<PauseButton definition={definition} />}>
      {definition.description && <p className="sentence">{plainText(definition.description)}</p>}
      <p className="meta">
        <span>
          {definition.owner === null ? (
            'No owner'
          ) : (
            <>
              Owner <strong>{definition.owner}</strong>
            </>
          )}
        </span>
        <RunbookLink url={definition.runbookUrl} />
      </p>
      {definition.paused && <PauseNotice pause={definition.paused} />}
      <NoWorkerNotice definition={definition} />
      <div className="columns">
        <div>
          {failures && <FailuresPanel failures={failures.groups} definitions={definitions ?? []} />}
          <Allowed scope="jobs:write">
            <RunForm key={key} definition={definition} latest={page.jobs[0] ?? null} />
          </Allowed>
          <Panel
            title="Latest jobs"
            flush
            aside={
              <Link to="/jobs" search={{ definitionKey: key }}>
                All jobs
              </Link>
            }
          >
            {page.jobs.length === 0 ? (
              <p className="soft pad">None yet.</p>
            ) : (
              <JobTable jobs={page.jobs} caption={`Latest jobs of ${key}`} alike />
            )}
          </Panel>
        </div>
        <div>
          <Policy definition={definition} />
          <RatesPanel definitionKey={key} />
          <LimitsPanel definition={definition} />
          <Panel title="Params schema">
            {definition.paramsSchema === null ? (
              <p className="soft">No schema. Any JSON is accepted.</p>
            ) : (
              <JsonTree value={definition.paramsSchema} />
            )}
          </Panel>
        </div>
      </div>
    </Screen>
  );
}

/** Warns that the jobs of this definition would wait. */
function NoWorkerNotice({ definition: { key, version } }: { definition: PublishedDefinition }) {
  const { data: workers } = useQuery(workersQuery());
  const name = `${key}@${version}`;
  const isThere = ({ status, definitions }: WorkerView) =>
    status === 'active' && definitions.includes(name);
  if (!workers || workers.some(isThere)) return null;
  return (
    <div className="notice warn">
      <Icon name="alert" />
      <p>
        No live worker has {name} loaded: its jobs wait. <Link to="/workers">Workers</Link>
      </p>
    </div>
  );
}

function Policy({ definition }: { definition: PublishedDefinition }) {
  const { memoryMb, retryOn, cancelGraceMs, hooks, schedules } = definition;
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Version', definition.version],
          ['Attempts', definition.maxAttempts],
          ['Retries', retryWords(definition)],
          ['Retry only on', retryOn?.join(', ')],
          ['Timeout', duration(definition.timeoutSeconds * 1_000)],
          ['Cancel grace', cancelGraceMs === null ? null : duration(cancelGraceMs)],
          ['Isolation', isolationWords(definition)],
          ['Memory', memoryMb === null ? 'no limit' : `${memoryMb} MiB`],
          ['Hooks', hooks.join(', ')],
          [
            'Schedules',
            schedules.map(({ cron, timezone }) => `${cronWords(cron)} (${timezone})`).join(', '),
          ],
          ['Published', <Moment at={definition.publishedAt} />],
        ]}
      />
    </Panel>
  );
}
