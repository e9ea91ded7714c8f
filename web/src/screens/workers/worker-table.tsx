import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { Ask } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Slots } from '../../parts/slots.tsx';
import { useNow } from '../../runtime/clock.ts';
import { shortId, timing } from '../../words/jobs/job-words.ts';

export function WorkerTable({
  workers,
  jobs,
}: {
  workers: readonly WorkerView[];
  /** Running jobs, to resolve the job ids of a worker. */
  jobs: readonly JobView[];
}) {
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
          cell: ({ host, pid, version }) => (
            <>
              <strong>{host}</strong>
              <br />
              <span className="soft">
                pid {pid}, version {version}
              </span>
            </>
          ),
        },
        { title: 'State', titled: 'in-head', cell: (worker) => <WorkerBadge worker={worker} /> },
        {
          title: 'Slots',
          titled: 'in-head',
          cell: ({ running, slots }) => <Slots taken={running.length} slots={slots} />,
        },
        {
          title: 'Last heartbeat',
          kind: 'short',
          cell: ({ heartbeatAt }) => <Moment at={heartbeatAt} />,
        },
        { title: 'Started', kind: 'short', cell: ({ startedAt }) => <Moment at={startedAt} /> },
        { title: 'Running', cell: ({ running }) => <RunsNow ids={running} jobs={jobs} /> },
        { title: 'Actions', titled: 'aloud', cell: (worker) => <DrainButton worker={worker} /> },
      ]}
    />
  );
}

function WorkerBadge({ worker: { leaseExpiresAt, status } }: { worker: WorkerView }) {
  const isLate = Date.parse(leaseExpiresAt) < useNow().getTime();
  if (isLate) return <span className="badge tone-bad">silent</span>;
  return <span className={`badge tone-${status === 'active' ? 'good' : 'warn'}`}>{status}</span>;
}

const SHOWN_MAX = 8;

function RunsNow({ ids, jobs }: { ids: readonly string[]; jobs: readonly JobView[] }) {
  const now = useNow();
  if (ids.length === 0) return <span className="soft">nothing</span>;
  return (
    <ul>
      {ids.slice(0, SHOWN_MAX).map((jobId) => {
        const job = jobs.find((one) => one.jobId === jobId);
        return (
          <li key={jobId}>
            <Link to="/jobs/$jobId" params={{ jobId }} data-row>
              {job?.definitionKey ?? shortId(jobId)}
            </Link>{' '}
            <span className="soft">{job ? timing(job, now) : ''}</span>
          </li>
        );
      })}
      {ids.length > SHOWN_MAX && <li className="soft">and {ids.length - SHOWN_MAX} more</li>}
    </ul>
  );
}

function DrainButton({ worker }: { worker: WorkerView }) {
  const [asking, setAsking] = useState(false);
  const drain = useChange(
    async () => await call<object>('POST', `/v1/workers/${worker.workerId}/drain`),
    () => `${worker.host} (pid ${worker.pid}) is draining.`,
  );
  const may = useMay('operate', { ofHost: true });
  if (worker.status !== 'active' || !may) return null;
  return (
    <>
      <button type="button" className="small" onClick={() => setAsking(true)}>
        Drain
      </button>
      {asking && (
        <Ask
          title={`Drain ${worker.host} (pid ${worker.pid})?`}
          confirm="Drain worker"
          onConfirm={() => drain.mutate(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            It claims no more jobs, finishes its running jobs and exits. Jobs that do not finish in
            time are released and run on another worker.
          </p>
        </Ask>
      )}
    </>
  );
}
