import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import { nearestName } from '../../../../src/core/values/nearest.ts';
import { unknownWords } from '../../../../src/core/schedule/unknown-definition.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery, jobsQuery, workersQuery } from '../../api/queries.ts';
import { useOffered } from '../../api/signal-queries.ts';
import { useMay } from '../../api/use-may.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Charts } from '../../parts/charts/charts.tsx';
import { FailuresPanel } from '../../parts/failures-panel.tsx';
import { Icon } from '../../parts/icon.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { RunbookLink } from '../../parts/runbook-link.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import type { ChartSearch } from '../../words/charts/range.ts';
import { cronWords } from '../../words/queues/cron-words.ts';
import {
  groupNotice,
  groupWords,
  isolationWords,
  memoryWords,
  newestVersions,
  retryWords,
} from '../../words/queues/definition-words.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { LimitsPanel } from './limits-panel.tsx';
import { LogsPanel } from './logs-panel.tsx';
import { PauseButton, PauseNotice } from './pause-part.tsx';
import { RatesPanel } from './rates-panel.tsx';
import { ReleasesPanel } from './releases-panel.tsx';
import { SlowNotice } from './slow-notice.tsx';
import { RunForm } from './run-form.tsx';

const route = getRouteApi('/definitions/$key');
const LATEST = 8;
const FORM_ID = 'run';

function UnknownDefinition({
  definitionKey,
  definitions,
}: {
  definitionKey: string;
  definitions: readonly PublishedDefinition[];
}) {
  const nearest = nearestName(
    definitionKey,
    definitions.map(({ key }) => key),
  );
  return (
    <Empty title={unknownWords(definitionKey, { nearest })}>
      <p>
        {nearest !== null && (
          <>
            <Link to="/definitions/$key" params={{ key: nearest }}>
              {nearest}
            </Link>{' '}
            ·{' '}
          </>
        )}
        <Link to="/jobs" search={{ definitionKey, status: ['queued'] }}>
          Its queued jobs
        </Link>{' '}
        · <Link to="/definitions">Back to definitions</Link> · <Link to="/">Overview</Link>
      </p>
    </Empty>
  );
}

export function DefinitionScreen() {
  const { key } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = useCallback(
    (search: ChartSearch) =>
      void navigate({ to: '/definitions/$key', params: { key }, search, resetScroll: false }),
    [navigate, key],
  );
  const { data: definitions, error } = useQuery(definitionsQuery());
  const { data: page } = useQuery(jobsQuery({ definitionKey: key, limit: LATEST }));
  const { data: failures } = useQuery(groupsQuery({ definitionKey: key, window: '24h' }));
  const definition = newestVersions(definitions ?? []).find((one) => one.key === key);
  if (!definition || !page) {
    return (
      <Screen title={key}>
        {definitions && !definition ? (
          <UnknownDefinition definitionKey={key} definitions={definitions} />
        ) : (
          <Waiting error={error} />
        )}
      </Screen>
    );
  }
  return (
    <Screen
      title={key}
      actions={
        <>
          <Allowed scope="jobs:write">
            <button type="button" onClick={goToForm}>
              Run…
            </button>
          </Allowed>
          <PauseButton definition={definition} />
        </>
      }
    >
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
        <UsageLink definitionKey={key} />
      </p>
      {definition.paused && <PauseNotice pause={definition.paused} />}
      <NoWorkerNotice definition={definition} />
      <GroupNotice definition={definition} />
      <SlowNotice definitionKey={key} />
      <RatesPanel definitionKey={key} />
      <Charts
        key={key}
        search={search}
        onSearch={onSearch}
        definitions={definitions ?? []}
        definitionKey={key}
      />
      <div className="columns">
        <div>
          {failures && (
            <FailuresPanel failures={failures.groups} definitions={definitions ?? []} ofOne />
          )}
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
          <LogsPanel key={`log ${key}`} definitionKey={key} />
          <Allowed scope="jobs:write">
            <div id={FORM_ID} tabIndex={-1}>
              <RunForm key={key} definition={definition} latest={page.jobs[0] ?? null} />
            </div>
          </Allowed>
          <ReleasesPanel definitionKey={key} />
        </div>
        <div>
          <Policy definition={definition} />
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

/** An older server has no usage. */
function UsageLink({ definitionKey }: { definitionKey: string }) {
  if (!useOffered('/v1/usage')) return null;
  return (
    <Link to="/usage" search={{ definition: definitionKey }}>
      Usage
    </Link>
  );
}

function goToForm(): void {
  const form = document.getElementById(FORM_ID);
  form?.scrollIntoView({ block: 'start' });
  form?.querySelector<HTMLElement>('input, textarea, select')?.focus({ preventScroll: true });
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

function GroupNotice({ definition }: { definition: PublishedDefinition }) {
  const { data: workers = [] } = useQuery(workersQuery());
  const problem = groupNotice(definition, workers);
  if (problem === null) return null;
  return (
    <div className="notice warn">
      <Icon name="alert" />
      <p>{sentenceCase(problem)}.</p>
    </div>
  );
}

function Policy({ definition }: { definition: PublishedDefinition }) {
  const { retryOn, cancelGraceMs, stallTimeoutMs, hooks, schedules } = definition;
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Version', definition.version],
          // An older server says nothing of shapes.
          ['Shape of params', (definition.paramsShape ?? 1) > 1 ? definition.paramsShape : null],
          ['Attempts', definition.maxAttempts],
          ['Retries', retryWords(definition)],
          ['Retry only on', retryOn?.join(', ')],
          ['Timeout', duration(definition.timeoutSeconds * 1_000)],
          ['Stall timeout', stallTimeoutMs === null ? null : duration(stallTimeoutMs)],
          ['Cancel grace', cancelGraceMs === null ? null : duration(cancelGraceMs)],
          ['Isolation', isolationWords(definition)],
          ['Groups', groupWords(definition)],
          ['Memory', memoryWords(definition)],
          ['Hooks', hooks.join(', ')],
          [
            'Schedules',
            schedules.map(({ cron, timezone }) => `${cronWords(cron)} (${timezone})`).join(', '),
          ],
          [
            'New schedule',
            useMay('operate') && (
              <Link to="/schedules/new" search={{ definition: definition.key }}>
                Create
              </Link>
            ),
          ],
          ['Published', <Moment at={definition.publishedAt} />],
        ]}
      />
    </Panel>
  );
}
