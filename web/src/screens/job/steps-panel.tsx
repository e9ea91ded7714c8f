import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import { stepsQuery } from '../../api/queries.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Panel } from '../../parts/panel.tsx';
import { storedSteps } from '../../words/jobs/stored-steps.ts';

/** What the steps and checkpoints of the job have stored; the next attempt reuses it. */
export function StepsPanel({ job }: { job: JobView }) {
  const { data } = useQuery(stepsQuery(job.jobId, job));
  const steps = storedSteps(data?.steps ?? []);
  const checkpoint = data?.checkpoint ?? null;
  if (steps.length === 0 && checkpoint === null) return null;
  return (
    <Panel title="Stored steps" aside={steps.length === 0 ? undefined : String(steps.length)}>
      <ol className="stored-steps" tabIndex={0} aria-label="Stored steps, oldest first">
        {steps.map(({ name, title, durationMs, value }) => (
          <li key={name}>
            <span className="step-name">{title}</span>{' '}
            <span className="soft">{durationMs === null ? '' : duration(durationMs)}</span>
            <div>
              <JsonTree value={value} openLevels={0} />
            </div>
          </li>
        ))}
        {checkpoint && (
          <li>
            <span className="step-name">Checkpoint</span>
            <div>
              <JsonTree value={checkpoint.value} openLevels={0} />
            </div>
          </li>
        )}
      </ol>
    </Panel>
  );
}
