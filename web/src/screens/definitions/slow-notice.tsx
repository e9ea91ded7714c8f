import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RUNNING_SEEN } from '../../../../src/core/problems/problem.ts';
import { slowdownWords } from '../../../../src/core/problems/slowdown.ts';
import { jobsQuery } from '../../api/queries.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../runtime/clock.ts';

/** Runs that take much longer than before: they fill the slots, and other jobs wait. */
export function SlowNotice({ definitionKey }: { definitionKey: string }) {
  const now = useNow();
  const status = ['running', 'cancelling'] as const;
  const asked = { definitionKey, status: [...status], sort: 'createdAt', limit: RUNNING_SEEN };
  const { data } = useQuery(jobsQuery(asked as Parameters<typeof jobsQuery>[0]));
  const stats = useStats()?.definitions.find(({ key }) => key === definitionKey);
  const words = stats && data ? slowdownWords(stats, data.jobs, now) : null;
  if (words === null) return null;
  return (
    <div className="notice warn" role="status">
      <Icon name="clock" />
      <p>
        It became slower{words}.{' '}
        <Link to="/jobs" search={{ definitionKey, status: [...status] }}>
          Its running jobs
        </Link>
      </p>
    </div>
  );
}
