import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import { isSystemKey } from '../../../../src/core/definition/hooks.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { shapeWords } from '../../../../src/core/shape/shape-words.ts';
import { settingsQuery } from '../../api/admin-queries.ts';
import { useIsDeployed } from '../../api/deployment-queries.ts';
import { relatedQuery } from '../../api/queries.ts';
import { useMay } from '../../api/use-may.ts';
import { Command, CopyButton } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { useNow } from '../../runtime/clock.ts';
import { tenant } from '../../runtime/tenant.ts';
import { serverAddress } from '../../runtime/urls.ts';
import { batchOf, type BatchOf } from '../../words/job-page/batch-of.ts';
import { timeSince } from '../../words/moment.ts';
import { versionWords } from '../../words/queues/deployment-words.ts';
import { cliFor, curlFor, replayFor } from '../../words/shell.ts';

const HERE = { address: serverAddress, tenant };

export function JobFacts({ job }: { job: JobView }) {
  const { data: related } = useQuery(relatedQuery(job.jobId));
  const batch = batchOf(job, related);
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Id', <code className="whole-id">{job.jobId}</code>],
          ['Definition', <DefinitionLink job={job} />],
          ['Version', <Version job={job} />],
          ['Shape of params', shapeWords(job)],
          ['Batch', batch && <BatchLink of={batch} />],
          ['Schedule', job.scheduleId && <ScheduleLink scheduleId={job.scheduleId} />],
          ['Tenant', job.tenant === 'default' ? null : job.tenant],
          ['Priority', job.priority === 0 ? null : job.priority],
          ['Tags', tags(job)],
          ['Idempotency key', job.idempotencyKey],
          ['Concurrency key', job.concurrencyKey],
          ['Created', <Moment at={job.createdAt} />],
          [
            job.status === 'suspended' ? 'Wait ends' : 'Run at',
            job.runAt && <Moment at={job.runAt} />,
          ],
          ['Queued', job.queuedAt && <Moment at={job.queuedAt} />],
          ['Started', job.startedAt && <Moment at={job.startedAt} />],
          ['Finished', job.finishedAt && <Moment at={job.finishedAt} />],
          ['Waiting now', job.status === 'queued' ? <WaitingNow job={job} /> : null],
          ['Queue time', job.status === 'queued' ? null : waited(job)],
          [job.attempts > 1 ? 'Last start to end' : 'Start to end', toEnd(job, job.startedAt)],
          ['Creation to end', toEnd(job, job.createdAt)],
          ['Cancel requested', job.cancelRequestedAt && <Moment at={job.cancelRequestedAt} />],
          ['Lease expires', job.leaseExpiresAt && <Moment at={job.leaseExpiresAt} />],
        ]}
      />
      <div className="copies">
        <CopyButton text={job.jobId} label="Copy id" />
        <CopyButton text={location.href} label="Copy link" />
        {!job.largeParams && !isSystemKey(job.definitionKey) && (
          <>
            <CopyButton text={curlFor(job, HERE)} label="Copy as new job: curl" />
            <CopyButton text={cliFor(job, HERE)} label="Copy as new job: CLI" />
          </>
        )}
        <Link to="/compare" search={{ a: job.jobId }} className="button small">
          Compare…
        </Link>
      </div>
      {!isSystemKey(job.definitionKey) && <Replay job={job} />}
    </Panel>
  );
}

/** Names the folder of the server if the user may read its settings. */
function Replay({ job }: { job: JobView }) {
  const may = useMay('admin', { ofDefaultTenant: true });
  const { data } = useQuery({ ...settingsQuery(), enabled: may });
  const folder = data?.settings.find(({ name }) => name === 'LONGSHORE_JOBS')?.value ?? null;
  return (
    <div className="replay">
      <h3>Debug it on your machine</h3>
      <Command text={replayFor(job, HERE, folder === null ? null : String(folder))} />
    </div>
  );
}

function BatchLink({ of: { batchId, words } }: { of: BatchOf }) {
  return (
    <Link to="/batches/$batchId" params={{ batchId }}>
      {words}
    </Link>
  );
}

function DefinitionLink({ job: { definitionKey } }: { job: JobView }) {
  if (definitionKey === BATCH_KEY) return definitionKey;
  // A hook job belongs to the definition that has the hook.
  const key = definitionKey.replace(/^\$hook:/, '');
  return (
    <Link to="/definitions/$key" params={{ key }}>
      {definitionKey}
    </Link>
  );
}

/** A link to the deployment if the definition is deployed. */
function Version({ job }: { job: JobView }) {
  const number = String(job.definitionVersion);
  if (!useIsDeployed(job)) return versionWords(job);
  return (
    <Link to="/deployments/$number" params={{ number }}>
      Deployment {number}
    </Link>
  );
}

function ScheduleLink({ scheduleId }: { scheduleId: string }) {
  return (
    <Link to="/schedules/$scheduleId" params={{ scheduleId }}>
      View schedule
    </Link>
  );
}

function tags({ tags: all }: JobView) {
  if (all.length === 0) return null;
  return all.map((tag) => (
    <Link key={tag} to="/jobs" search={{ tag }} className="tag">
      {tag}
    </Link>
  ));
}

function WaitingNow({ job: { queuedAt, createdAt } }: { job: JobView }) {
  return timeSince(queuedAt ?? createdAt, useNow());
}

/** The list of jobs has that of the start, the timeline that of the creation. */
function toEnd({ finishedAt }: JobView, from: string | null): string | null {
  if (from === null || finishedAt === null) return null;
  return duration(Date.parse(finishedAt) - Date.parse(from));
}

function waited({ queuedAt, startedAt, attempts }: JobView): string | null {
  if (queuedAt === null || startedAt === null || attempts !== 1) return null;
  return duration(Date.parse(startedAt) - Date.parse(queuedAt));
}
