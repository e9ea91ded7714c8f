import { Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { serverAddress } from '../../runtime/urls.ts';
import { cliFor, curlFor } from '../../words/shell.ts';

export function JobFacts({ job }: { job: JobView }) {
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Id', <code className="whole-id">{job.jobId}</code>],
          ['Definition', <DefinitionLink job={job} />],
          ['Version', job.definitionVersion],
          ['Schedule', job.scheduleId && <ScheduleLink scheduleId={job.scheduleId} />],
          ['Tenant', job.tenant === 'default' ? null : job.tenant],
          ['Priority', job.priority === 0 ? null : job.priority],
          ['Tags', tags(job)],
          ['Idempotency key', job.idempotencyKey],
          ['Concurrency key', job.concurrencyKey],
          ['Created', <Moment at={job.createdAt} />],
          ['Run at', job.runAt && <Moment at={job.runAt} />],
          ['Queued', job.queuedAt && <Moment at={job.queuedAt} />],
          ['Started', job.startedAt && <Moment at={job.startedAt} />],
          ['Finished', job.finishedAt && <Moment at={job.finishedAt} />],
          ['Queue time', waited(job)],
          ['Cancel requested', job.cancelRequestedAt && <Moment at={job.cancelRequestedAt} />],
          ['Lease expires', job.leaseExpiresAt && <Moment at={job.leaseExpiresAt} />],
        ]}
      />
      <div className="copies">
        <CopyButton text={job.jobId} label="Copy id" />
        <CopyButton text={location.href} label="Copy link" />
        <CopyButton text={curlFor(job, serverAddress)} label="Copy as curl" />
        <CopyButton text={cliFor(job, serverAddress)} label="Copy as CLI" />
      </div>
    </Panel>
  );
}

function DefinitionLink({ job: { definitionKey } }: { job: JobView }) {
  // A hook job belongs to the definition that has the hook.
  const key = definitionKey.replace(/^\$hook:/, '');
  return (
    <Link to="/definitions/$key" params={{ key }}>
      {definitionKey}
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

function waited({ queuedAt, startedAt, attempts }: JobView): string | null {
  if (queuedAt === null || startedAt === null || attempts !== 1) return null;
  return duration(Date.parse(startedAt) - Date.parse(queuedAt));
}
