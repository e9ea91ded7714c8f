import { useQuery } from '@tanstack/react-query';
import type { JobState, JobView } from '../../../../src/core/job/job.ts';
import { ownTenantQuery } from '../../api/admin-queries.ts';
import { definitionsQuery, pausesQuery, relatedQuery, workersQuery } from '../../api/queries.ts';
import { TargetLink } from '../../parts/target-link.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useNow } from '../../runtime/clock.ts';
import type { Target } from '../../words/target.ts';
import { whyNotRunning } from '../../words/jobs/why-not-running.ts';

const TITLES: Partial<Record<JobState, string>> = {
  running: 'Is it stuck?',
  cancelling: 'Cancelling',
};

const LINK_WORDS: Partial<Record<Target['at'], string>> = {
  definition: 'View definition',
  workers: 'View workers',
  tenants: 'View tenants',
};

export function WhyPanel({ job }: { job: JobView }) {
  const now = useNow();
  const { data: workers } = useQuery(workersQuery());
  const { data: definitions } = useQuery(definitionsQuery());
  const { data: pauses } = useQuery(pausesQuery());
  const { data: tenant } = useQuery(ownTenantQuery());
  const { data: related } = useQuery({
    ...relatedQuery(job.jobId),
    enabled: job.waitsFor?.jobs !== undefined,
  });
  if (!workers || !definitions || !pauses || !tenant) return null;
  const jobs = { parents: related?.parents, children: related };
  const world = { workers, definitions, pauses, tenant, ...jobs };
  const why = whyNotRunning(job, world, now);
  if (why === null) return null;
  return (
    <Panel title={TITLES[job.status] ?? 'Why isn’t it running?'}>
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
