import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import { stepsQuery } from '../../api/queries.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Panel } from '../../parts/panel.tsx';

/** What the steps and checkpoints of the job have stored; the next attempt reuses it. */
export function StepsPanel({ job }: { job: JobView }) {
  const { data } = useQuery(stepsQuery(job.jobId, job));
  if (!data || (data.steps.length === 0 && data.checkpoint === null)) return null;
  const { steps, checkpoint } = data;
  return (
    <Panel title="Stored steps" aside={steps.length === 0 ? undefined : String(steps.length)}>
      <ol className="stored-steps" tabIndex={0} aria-label="Stored steps, oldest first">
        {steps.map(({ name, durationMs, value }) => (
          <li key={name}>
            <span className="step-name">{name}</span>{' '}
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
