import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { jobsQuery } from '../../api/queries.ts';
import { BulkButtons } from '../../parts/bulk-buttons.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { now } from '../../runtime/clock.ts';
import { actionsFor } from '../../words/jobs/bulk-words.ts';
import { FilterBar } from './filter-bar.tsx';
import { bulkOf, type JobsSearch, withoutOne } from './jobs-search.ts';
import { SteadyTable } from './steady-table.tsx';

const route = getRouteApi('/jobs');

export function JobsScreen() {
  const search = route.useSearch();
  const { data: page, error } = useQuery(jobsQuery(search));
  return (
    <Screen
      title="Jobs"
      actions={
        page !== undefined &&
        page.jobs.length > 0 && (
          <BulkButtons
            actions={actionsFor(search.status ?? [])}
            filter={bulkOf(search, now())}
            what="all matching jobs"
          />
        )
      }
    >
      <FilterBar search={search} />
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.jobs.length === 0 && page.nextCursor === null ? (
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
      <span className="soft">{pageWords(shown, nextCursor !== null)}</span>
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

/**
 * A text search reads a limited number of jobs per page, so a page can be short without being the
 * last.
 */
function pageWords(shown: number, isMore: boolean): string {
  if (shown === 0) return 'No matches so far; not all jobs were searched';
  return `${shown} ${shown === 1 ? 'job' : 'jobs'}${isMore ? ', and more' : ''}`;
}

function NoJobs({ search }: { search: JobsSearch }) {
  const filters = Object.keys(search).filter((name) => name !== 'sort');
  if (filters.length === 0) {
    return (
      <Empty title="No jobs yet.">
        <p>
          The <Link to="/">overview</Link> shows how to run the first one.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No matching jobs.">
      <ul className="ways">
        {withoutOne(search).map(({ words, search: less }) => (
          <li key={words}>
            <Link to="/jobs" search={less}>
              Without “{words}”
            </Link>
          </li>
        ))}
        <li>
          <Link to="/jobs" search={{}}>
            Show all jobs
          </Link>
        </li>
      </ul>
    </Empty>
  );
}
