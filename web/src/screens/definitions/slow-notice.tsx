import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { heldJobs } from '../../../../src/core/problems/problem.ts';
import { slowdownWords } from '../../../../src/core/problems/slowdown.ts';
import { ownTenantQuery } from '../../api/admin-queries.ts';
import { workersQuery } from '../../api/queries.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../runtime/clock.ts';

/** Runs that take much longer than before: they fill the slots, and other jobs wait. */
export function SlowNotice({ definitionKey }: { definitionKey: string }) {
  const now = useNow();
  const status = ['running', 'cancelling'] as const;
  const { data: workers } = useQuery(workersQuery());
  const { data: tenant } = useQuery(ownTenantQuery());
  const stats = useStats()?.definitions.find(({ key }) => key === definitionKey);
  const words =
    stats && workers && tenant ? slowdownWords(stats, heldJobs({ workers, tenant }), now) : null;
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
