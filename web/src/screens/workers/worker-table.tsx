import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job.ts';
import type { WorkerView } from '../../../../src/core/worker.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Slots } from '../../parts/slots.tsx';
import { useNow } from '../../runtime/clock.ts';
import { shortId, timing } from '../../words/job-words.ts';

export function WorkerRow({ worker, jobs }: { worker: WorkerView; jobs: readonly JobView[] }) {
  const now = useNow();
  const late = Date.parse(worker.leaseExpiresAt) < now.getTime();
  return (
    <tr>
      <td className="nowrap">
        <strong>{worker.host}</strong>
        <br />
        <span className="soft">
          pid {worker.pid}, version {worker.version}
        </span>
      </td>
      <td>
        {late ? (
          <span className="badge tone-bad">silent</span>
        ) : (
          <span className={`badge tone-${worker.status === 'active' ? 'good' : 'warn'}`}>
            {worker.status}
          </span>
        )}
      </td>
      <td>
        <Slots taken={worker.running.length} slots={worker.slots} />
      </td>
      <td className="nowrap">
        <Moment at={worker.heartbeatAt} />
      </td>
      <td className="nowrap">
        <Moment at={worker.startedAt} />
      </td>
      <td>
        <RunsNow ids={worker.running} jobs={jobs} />
      </td>
      <td className="number">
        <DrainButton worker={worker} />
      </td>
    </tr>
  );
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
    () => `${worker.host} (pid ${worker.pid}) drains.`,
  );
  if (worker.status !== 'active') return null;
  return (
    <>
      <button type="button" className="small" onClick={() => setAsking(true)}>
        Drain
      </button>
      {asking && (
        <Ask
          title={`Drain ${worker.host} (pid ${worker.pid})?`}
          confirm="Drain it"
          onConfirm={() => drain.mutate(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            It claims nothing more, finishes what it runs and leaves. What does not end in time is
            given back and runs elsewhere.
          </p>
        </Ask>
      )}
    </>
  );
}
