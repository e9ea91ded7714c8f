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
            what="all jobs that match"
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

/** A search in texts looks at so many jobs at a time: a page may be short, and not the last. */
function pageWords(shown: number, isMore: boolean): string {
  if (shown === 0) return 'None so far, but not all jobs were looked at';
  return `${shown} ${shown === 1 ? 'job' : 'jobs'}${isMore ? ', and more' : ''}`;
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
