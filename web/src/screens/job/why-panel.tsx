import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job/job.ts';
import { definitionsQuery, pausesQuery, workersQuery } from '../../api/queries.ts';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useNow } from '../../runtime/clock.ts';
import { whyNotRunning } from '../../words/jobs/why-not-running.ts';

export function WhyPanel({ job }: { job: JobView }) {
  const now = useNow();
  const { data: workers } = useQuery(workersQuery());
  const { data: definitions } = useQuery(definitionsQuery());
  const { data: pauses } = useQuery(pausesQuery());
  if (!workers || !definitions || !pauses) return null;
  const told = whyNotRunning(job, { workers, definitions, pauses }, now);
  if (told === null) return null;
  return (
    <Panel title={job.status === 'running' ? 'Is it stuck?' : 'Why isn’t it running?'}>
      <div className={`why why-${told.tone}`}>
        <p className="why-headline">{told.headline}</p>
        {told.facts.map((fact) => (
          <p key={fact}>{fact}</p>
        ))}
        {told.todo !== null && (
          <p className="todo">
            {told.todo} {told.place && <PlaceLink place={told.place}>Go there</PlaceLink>}
          </p>
        )}
      </div>
    </Panel>
  );
}
