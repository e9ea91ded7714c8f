import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Command } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { preference, usePreference } from '../../runtime/preference.ts';
import { apiUrl, serverAddress } from '../../runtime/urls.ts';
import { skeletonOf } from '../../../../src/core/form/schema-form.ts';
import { shellWord, urlFlag } from '../../words/shell.ts';
import type { Overview } from './use-overview.ts';

export const firstRun = preference('first-run', ['unseen', 'started', 'closed']);

/**
 * Steps to the first finished job, ticked off by the server's real state. Who saw them unfinished sees
 * the end of them, too.
 */
export function FirstRun({
  overview: { workers, definitions },
  started,
  done,
}: {
  overview: Overview;
  started: JobView | null;
  done: JobView | null;
}) {
  const [, setSeen] = usePreference(firstRun);
  const isDone = done !== null;
  useEffect(() => {
    if (!isDone) setSeen('started');
  }, [isDone, setSeen]);
  const worker = workers.find(({ status }) => status !== 'dead');
  const first = definitions.find(({ key }) => key === 'hello') ?? definitions[0];
  return (
    <Panel title="Your first job">
      <ol className="steps">
        <Step done title="The server is up">
          <p className="soft">At {serverAddress}.</p>
        </Step>
        <Step done={worker !== undefined} title="A worker is connected">
          {worker ? (
            <p className="soft">
              {worker.host}, with {worker.slots} {worker.slots === 1 ? 'slot' : 'slots'}.
            </p>
          ) : (
            <Command text="npx longshore worker --jobs ./jobs" />
          )}
        </Step>
        <Step done={definitions.length > 0} title="The worker has registered a definition">
          {definitions.length > 0 ? (
            <p className="soft">{definitions.map(({ key }) => key).join(', ')}</p>
          ) : (
            <p className="soft">
              Put a file that calls defineJob into the worker’s jobs folder, and restart the worker.
            </p>
          )}
        </Step>
        <Step done={started !== null} title="A job is enqueued">
          {started === null && first && (
            <>
              <p>
                <Allowed scope="jobs:write">
                  <Link to="/definitions/$key" params={{ key: first.key }} className="button">
                    Run {first.key}…
                  </Link>{' '}
                  or, in a terminal:
                </Allowed>
              </p>
              <Command text={enqueueCommand(first)} />
            </>
          )}
          {started !== null && <JobLink job={started} />}
        </Step>
        <Step done={done !== null} title="The job has succeeded">
          {done !== null && <JobLink job={done} />}
        </Step>
      </ol>
      {done !== null && (
        <p className="next-step">
          Done. Next: <a href={apiUrl('/docs/writing-jobs')}>write your own job</a>.{' '}
          <button type="button" className="small" onClick={() => setSeen('closed')}>
            Close
          </button>
        </p>
      )}
    </Panel>
  );
}

function enqueueCommand({ key, paramsSchema }: PublishedDefinition): string {
  const params = skeletonOf(paramsSchema);
  return [
    'npx longshore enqueue',
    shellWord(key),
    ...(params === null ? [] : [shellWord(JSON.stringify(params))]),
    '--wait',
    ...urlFlag(serverAddress),
  ].join(' ');
}

function Step({ done, title, children }: { done: boolean; title: string; children: ReactNode }) {
  return (
    <li className={done ? 'step done' : 'step'}>
      <span className="tick">{done && <Icon name="check" />}</span>
      <div>
        <p className="step-title">
          {title}
          <span className="visually-hidden">{done ? ' (done)' : ' (to do)'}</span>
        </p>
        {children}
      </div>
    </li>
  );
}

function JobLink({ job }: { job: JobView }) {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.jobId }}>
      {job.definitionKey}
    </Link>
  );
}
