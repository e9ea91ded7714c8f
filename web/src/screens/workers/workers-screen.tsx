import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endWords, type WorkerView } from '../../../../src/core/queue/worker.ts';
import { useScale } from '../../api/signal-queries.ts';
import { definitionsQuery, workersQuery } from '../../api/queries.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { useNow } from '../../runtime/clock.ts';
import { ownersOf, ownerWords } from '../../../../src/core/definition/owners.ts';
import { earlierWords, goneWorkers } from '../../words/workers/gone-workers.ts';
import { scaleWords } from '../../words/queues/scale-words.ts';
import { NotLoadedPanel } from './not-loaded-panel.tsx';
import { WorkerTable } from './worker-table.tsx';

const LOADED_SHOWN = 12;

export function WorkersScreen() {
  const { data: workers, error } = useQuery(workersQuery());
  const scale = useScale();
  if (!workers) {
    return (
      <Screen title="Workers">
        <Waiting error={error} />
      </Screen>
    );
  }
  const alive = workers.filter(({ status }) => status !== 'dead');
  const gone = workers.filter(({ status }) => status === 'dead');
  return (
    <Screen title="Workers">
      {scale && <p className="soft meta">{scaleWords(scale)}</p>}
      {alive.length === 0 ? (
        <Empty title="No live worker: no job can run.">
          <Command text="npx longshore worker --jobs ./jobs" />
        </Empty>
      ) : (
        <WorkerTable workers={alive} />
      )}
      <NotLoadedPanel workers={alive} />
      {gone.length > 0 && <Gone workers={gone} />}
    </Screen>
  );
}

function Gone({ workers }: { workers: readonly WorkerView[] }) {
  const { recent, earlier } = goneWorkers(workers, useNow());
  return (
    <div className="below">
      <Panel title="Offline" aside="last 24 hours">
        {recent.length > 0 && <GoneList workers={recent} />}
        {earlier.length > 0 && (
          <details>
            <summary>{earlierWords(earlier)}</summary>
            <GoneList workers={earlier} />
          </details>
        )}
      </Panel>
    </div>
  );
}

function GoneList({ workers }: { workers: readonly WorkerView[] }) {
  return (
    <ul className="mini">
      {workers.map(({ workerId, host, pid, version, heartbeatAt, lost, endedBy, definitions }) => (
        <li key={workerId}>
          <span className="mini-name">
            {host}{' '}
            <span className="soft">
              pid {pid}, version {version}
            </span>{' '}
            <span className={`badge ${lost ? 'tone-bad' : ''}`}>{lost ? 'died' : 'stopped'}</span>{' '}
            {endedBy !== null && <span>{endWords(endedBy)}</span>}
          </span>
          <span className="soft">
            last heartbeat <Moment at={heartbeatAt} />
          </span>
          {lost && (
            <span className="soft mini-whole">
              Definitions: <Loaded names={definitions} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Definitions of a lost worker, with their owners. */
function Loaded({ names }: { names: readonly string[] }) {
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const owners = ownersOf(definitions);
  const keys = [...new Set(names.map((name) => name.replace(/@\d+$/, '')))];
  if (keys.length === 0) return 'none';
  return keys.slice(0, LOADED_SHOWN).map((key) => (
    <span key={key} className="tag">
      <Link to="/definitions/$key" params={{ key }}>
        {key}
      </Link>{' '}
      {ownerWords(owners, [key])}
    </span>
  ));
}
