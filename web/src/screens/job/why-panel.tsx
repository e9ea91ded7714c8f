import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job/job.ts';
import { definitionsQuery, pausesQuery, workersQuery } from '../../api/queries.ts';
import { TargetLink } from '../../parts/target-link.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useNow } from '../../runtime/clock.ts';
import type { Target } from '../../words/target.ts';
import { whyNotRunning } from '../../words/jobs/why-not-running.ts';

const LINK_WORDS: Partial<Record<Target['at'], string>> = {
  definition: 'View definition',
  workers: 'View workers',
};

export function WhyPanel({ job }: { job: JobView }) {
  const now = useNow();
  const { data: workers } = useQuery(workersQuery());
  const { data: definitions } = useQuery(definitionsQuery());
  const { data: pauses } = useQuery(pausesQuery());
  if (!workers || !definitions || !pauses) return null;
  const why = whyNotRunning(job, { workers, definitions, pauses }, now);
  if (why === null) return null;
  return (
    <Panel title={job.status === 'running' ? 'Is it stuck?' : 'Why isn’t it running?'}>
      <div className={`why why-${why.tone}`}>
        <p className="why-headline">{why.headline}</p>
        {why.facts.map((fact) => (
          <p key={fact}>{fact}</p>
        ))}
        {why.todo !== null && (
          <p className="todo">
            {why.todo}{' '}
            {why.target && (
              <TargetLink target={why.target}>{LINK_WORDS[why.target.at] ?? 'View'}</TargetLink>
            )}
          </p>
        )}
      </div>
    </Panel>
  );
}
