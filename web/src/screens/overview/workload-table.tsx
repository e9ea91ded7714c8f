import { Link } from '@tanstack/react-router';
import type { JobState } from '../../../../src/core/job/job.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { type Workload, workloads } from '../../words/alerts/workload.ts';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 20;

export function WorkloadTable({ overview }: { overview: Overview }) {
  const { definitions, failures, stats } = overview;
  const loads = workloads(definitions, { stats, failures: failures.groups }).slice(0, SHOWN_MAX);
  if (loads.length === 0) return null;
  return (
    <Panel title="Definitions" aside={<Link to="/definitions">All definitions</Link>} flush>
      <Rows
        caption="Definitions and their workload"
        rows={loads}
        keyOf={({ key }) => key}
        columns={[
          {
            title: 'Definition',
            kind: 'wide',
            titled: 'in-head',
            cell: ({ key }) => (
              <Link to="/definitions/$key" params={{ key }} className="row-link" data-row>
                {key}
              </Link>
            ),
          },
          {
            title: 'Owner',
            kind: 'short',
            spare: true,
            cell: ({ owner }) => owner ?? <span className="soft">–</span>,
          },
          {
            title: 'Queued',
            kind: 'number',
            cell: (load) => <Count load={load} count={load.queued} status={['queued']} />,
          },
          {
            title: 'Oldest',
            kind: 'short',
            cell: ({ oldestQueuedAt }) => <Moment at={oldestQueuedAt} />,
          },
          {
            title: 'Running',
            kind: 'number',
            cell: (load) => (
              <Count load={load} count={load.running} status={['running', 'cancelling']} />
            ),
          },
          {
            title: 'Retrying',
            kind: 'number',
            cell: (load) => <Count load={load} count={load.retrying} status={['retrying']} />,
          },
          { title: 'Dead, 24 h', kind: 'number', cell: (load) => <Failed load={load} /> },
        ]}
      />
    </Panel>
  );
}

function Count({ load, count, status }: { load: Workload; count: number; status: JobState[] }) {
  if (count === 0) return <span className="soft">0</span>;
  return (
    <Link to="/jobs" search={{ definitionKey: load.key, status }}>
      {count.toLocaleString('en')}
    </Link>
  );
}

function Failed({ load: { key, failed } }: { load: Workload }) {
  if (failed === 0) return <span className="soft">0</span>;
  return (
    <Link to="/dead-letters" search={{ definitionKey: key, window: '24h' }}>
      {failed.toLocaleString('en')}
    </Link>
  );
}
