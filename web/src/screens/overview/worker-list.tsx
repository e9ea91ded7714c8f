import { Link } from '@tanstack/react-router';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Slots } from '../../parts/slots.tsx';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 6;

export function WorkerList({ overview: { workers } }: { overview: Overview }) {
  const alive = workers.filter(({ status }) => status !== 'dead');
  return (
    <Panel title="Workers" aside={<Link to="/workers">All workers</Link>}>
      {alive.length === 0 && <p className="soft">No live worker.</p>}
      <ul className="mini">
        {alive
          .slice(0, SHOWN_MAX)
          .map(({ workerId, host, pid, busy, slots, heartbeatAt, status }) => (
            <li key={workerId}>
              <span className="mini-name">
                {host} <span className="soft">pid {pid}</span>
                {status === 'draining' && <span className="badge tone-warn">draining</span>}
              </span>
              <Slots taken={busy} slots={slots} />
              <span className="soft">
                last heartbeat <Moment at={heartbeatAt} />
              </span>
            </li>
          ))}
      </ul>
    </Panel>
  );
}
