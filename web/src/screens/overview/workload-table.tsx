import { Link } from '@tanstack/react-router';
import type { JobState } from '../../../../src/core/job.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Workload, workloads } from '../../words/workload.ts';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 20;

export function WorkloadTable({ overview }: { overview: Overview }) {
  const { definitions, queued, running, retrying, failures, stats } = overview;
  const loads = workloads(definitions, {
    queued: queued.jobs,
    running: running.jobs,
    retrying: retrying.jobs,
    failures: failures.groups,
    measured: stats?.definitions ?? null,
  }).slice(0, SHOWN_MAX);
  if (loads.length === 0) return null;
  return (
    <Panel title="Definitions" aside={<Link to="/definitions">All definitions</Link>} flush>
      <div className="scroll">
        <table className="rows">
          <caption className="visually-hidden">Definitions and what they have to do</caption>
          <thead>
            <tr>
              <th scope="col">Definition</th>
              <th scope="col">Owner</th>
              <th scope="col" className="number">
                Queued
              </th>
              <th scope="col">Oldest</th>
              <th scope="col" className="number">
                Running
              </th>
              <th scope="col" className="number">
                Retrying
              </th>
              <th scope="col" className="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {loads.map((load) => (
              <Row key={load.key} load={load} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Row({ load }: { load: Workload }) {
  return (
    <tr>
      <td>
        <Link to="/jobs" search={{ definitionKey: load.key }} className="row-link" data-row>
          {load.key}
        </Link>
      </td>
      <td className="nowrap">{load.owner ?? <span className="soft">–</span>}</td>
      <Count load={load} count={load.queued} status={['queued']} />
      <td className="nowrap">
        <Moment at={load.oldestQueuedAt} />
      </td>
      <Count load={load} count={load.running} status={['running', 'cancelling']} />
      <Count load={load} count={load.retrying} status={['retrying']} />
      <Failed load={load} />
    </tr>
  );
}

function Count({ load, count, status }: { load: Workload; count: number; status: JobState[] }) {
  if (count === 0) return <td className="number soft">0</td>;
  return (
    <td className="number">
      <Link to="/jobs" search={{ definitionKey: load.key, status }}>
        {count}
      </Link>
    </td>
  );
}

function Failed({ load: { key, failed } }: { load: Workload }) {
  if (failed === 0) return <td className="number soft">0</td>;
  return (
    <td className="number">
      <Link to="/dead-letters" search={{ definitionKey: key, window: '24h' }}>
        {failed.toLocaleString('en')}
      </Link>
    </td>
  );
}
