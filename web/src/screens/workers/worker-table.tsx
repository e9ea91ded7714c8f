import { Link } from '@tanstack/react-router';
import { type HeldJob, takesNoJobs, type WorkerView } from '../../../../src/core/queue/worker.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay, useSession } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Slots } from '../../parts/slots.tsx';
import { useNow } from '../../runtime/clock.ts';
import { addressFor, tenant as actingFor } from '../../runtime/tenant.ts';
import { timeSince } from '../../words/moment.ts';
import { drainSteps } from '../../words/workers/drain-words.ts';

export function WorkerTable({ workers }: { workers: readonly WorkerView[] }) {
  const active = workers.filter(({ status }) => status === 'active').length;
  return (
    <Rows
      caption="Active workers"
      rows={workers}
      keyOf={({ workerId }) => workerId}
      columns={[
        {
          title: 'Worker',
          kind: 'short',
          titled: 'in-head',
          cell: ({ host, pid, version, ...worker }) => (
            <>
              <strong>{host}</strong>
              <br />
              <span className="soft">
                pid {pid}, version {version}
              </span>
              <Connection worker={worker} />
            </>
          ),
        },
        { title: 'State', titled: 'in-head', cell: (worker) => <WorkerBadge worker={worker} /> },
        {
          title: 'Slots',
          titled: 'in-head',
          cell: ({ busy, slots }) => <Slots taken={busy} slots={slots} />,
        },
        {
          title: 'Last heartbeat',
          kind: 'short',
          cell: ({ heartbeatAt }) => <Moment at={heartbeatAt} />,
        },
        { title: 'Started', kind: 'short', cell: ({ startedAt }) => <Moment at={startedAt} /> },
        { title: 'Running', cell: (worker) => <RunsNow worker={worker} /> },
        {
          title: 'Actions',
          titled: 'aloud',
          cell: (worker) => <DrainButton worker={worker} isOnly={active === 1} />,
        },
      ]}
    />
  );
}

/** How a worker over HTTP is connected. */
function Connection({
  worker,
}: {
  worker: Pick<WorkerView, 'transport' | 'address' | 'keyId' | 'tenant'>;
}) {
  const { transport, address, keyId, tenant } = worker;
  if (transport !== 'http') return null;
  const key = keyId === null ? 'no key' : `key ${keyId}`;
  return (
    <>
      <br />
      <span className="soft">
        over HTTP from {address}, {key}, tenant {tenant}
      </span>
    </>
  );
}

function WorkerBadge({ worker }: { worker: WorkerView }) {
  const { leaseExpiresAt, status } = worker;
  const nowMs = useNow().getTime();
  if (Date.parse(leaseExpiresAt) < nowMs) return <span className="badge tone-bad">silent</span>;
  if (takesNoJobs(worker, nowMs)) {
    const title =
      'It sends heartbeats and has free slots, but has not asked for jobs for a minute.';
    return (
      <span className="badge tone-bad" title={title}>
        takes no jobs
      </span>
    );
  }
  return <span className={`badge tone-${status === 'active' ? 'good' : 'warn'}`}>{status}</span>;
}

const SHOWN_MAX = 8;

function RunsNow({ worker: { jobs, busy } }: { worker: WorkerView }) {
  const now = useNow();
  const hidden = busy - jobs.length;
  if (busy === 0) return <span className="soft">nothing</span>;
  return (
    <ul>
      {jobs.slice(0, SHOWN_MAX).map((job) => (
        <li key={job.jobId}>
          <HeldJobLink job={job} />{' '}
          <span className="soft">for {timeSince(job.startedAt, now)}</span>
        </li>
      ))}
      {jobs.length > SHOWN_MAX && <li className="soft">and {jobs.length - SHOWN_MAX} more</li>}
      {hidden > 0 && <li className="soft">{otherJobs(hidden)}</li>}
    </ul>
  );
}

/** Another tenant is another page load. */
function HeldJobLink({ job: { jobId, definitionKey, tenant } }: { job: HeldJob }) {
  const home = useSession()?.tenant;
  const here = actingFor ?? home;
  if (here === undefined || tenant === here) {
    return (
      <Link to="/jobs/$jobId" params={{ jobId }} data-row>
        {definitionKey}
      </Link>
    );
  }
  return (
    <a href={addressFor(`/jobs/${jobId}`, tenant)} data-row>
      {definitionKey} ({tenant})
    </a>
  );
}

function otherJobs(count: number): string {
  return count === 1 ? '1 job of another tenant' : `${count} jobs of other tenants`;
}

function DrainButton({ worker, isOnly }: { worker: WorkerView; isOnly: boolean }) {
  const drain = useAsked(
    async () => await call<object>('POST', `/v1/workers/${worker.workerId}/drain`),
    () => `${worker.host} (pid ${worker.pid}) is draining.`,
  );
  const may = useMay('operate', { ofDefaultTenant: true });
  if (worker.status !== 'active' || !may) return null;
  return (
    <AskButton
      label="Drain…"
      className="small"
      title={`Drain ${worker.host} (pid ${worker.pid})?`}
      confirm="Drain worker"
      onConfirm={() => drain(undefined)}
    >
      <ol className="steps-list">
        {drainSteps(worker).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {isOnly && <p>This is the only active worker: jobs wait until another one starts.</p>}
    </AskButton>
  );
}
