import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { jobsQuery } from '../../api/queries.ts';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { FilterBar } from './filter-bar.tsx';
import type { JobsSearch } from './jobs-search.ts';
import { SteadyTable } from './steady-table.tsx';

const route = getRouteApi('/jobs');

export function JobsScreen() {
  const search = route.useSearch();
  const { data: page, error } = useQuery(jobsQuery(search));
  return (
    <Screen title="Jobs">
      <FilterBar search={search} />
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.jobs.length === 0 ? (
        <NoJobs search={search} />
      ) : (
        <>
          <SteadyTable key={JSON.stringify(search)} jobs={page.jobs} />
          <Pages search={search} nextCursor={page.nextCursor} shown={page.jobs.length} />
        </>
      )}
    </Screen>
  );
}

/** Going back is what the browser's button is for; the newest are one click away from anywhere. */
function Pages({
  search,
  nextCursor,
  shown,
}: {
  search: JobsSearch;
  nextCursor: string | null;
  shown: number;
}) {
  const { cursor, ...first } = search;
  return (
    <nav className="pages" aria-label="Pages">
      <span className="soft">
        {shown} {shown === 1 ? 'job' : 'jobs'}
        {nextCursor === null ? '' : ', and more'}
      </span>
      {cursor !== undefined && (
        <Link to="/jobs" search={first} className="button">
          First page
        </Link>
      )}
      {nextCursor !== null && (
        <Link to="/jobs" search={{ ...search, cursor: nextCursor }} className="button">
          Next page
        </Link>
      )}
    </nav>
  );
}

function NoJobs({ search }: { search: JobsSearch }) {
  const filters = Object.keys(search).filter((name) => name !== 'sort');
  if (filters.length === 0) {
    return (
      <Empty title="No job has been started yet.">
        <p>
          <Link to="/">The overview</Link> shows how to start the first one.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No job fits.">
      <p>
        <Link to="/jobs" search={{}}>
          Show all jobs
        </Link>
      </p>
    </Empty>
  );
}
