import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { misspeltTerms, misspeltWords } from '../../../../src/core/search/misspelt.ts';
import { unsearchedWords } from '../../../../src/core/search/unsearched.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { GatheredPage } from '../../api/gather.ts';
import { jobSearchQuery, searchProgress } from '../../api/job-search.ts';
import { jobsAskedQuery } from '../../api/queries.ts';
import { NO_VALUES, searchValuesQuery } from '../../api/search-queries.ts';
import { useMay } from '../../api/use-may.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { BulkButtons } from '../../parts/bulk/bulk-buttons.tsx';
import { BulkResult } from '../../parts/bulk/bulk-result.tsx';
import { ExportMenu } from '../../parts/search/export-menu.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { SelectionBar } from '../../parts/search/selection-bar.tsx';
import { useSelection } from '../../parts/search/use-selection.ts';
import { ViewsMenu } from '../../parts/search/views-menu.tsx';
import { now } from '../../runtime/clock.ts';
import { actionsFor } from '../../words/jobs/bulk-words.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { noneYet, pageWords, progressWords } from '../../words/search/page-words.ts';
import { NO_SELECTION } from '../../words/search/selection.ts';
import { writeUrlSearch } from '../../words/url-search.ts';
import { FilterBar } from './filter-bar.tsx';
import { bulkOf, type JobsSearch, withoutOne } from './jobs-search.ts';
import { SteadyTable } from './steady-table.tsx';

const route = getRouteApi('/jobs');

type Found = GatheredPage<JobView>;

export function JobsScreen() {
  const search = route.useSearch();
  const { data: page, error, isPlaceholderData } = useQuery(jobSearchQuery(search));
  const { cursor: _cursor, ...kept } = search;
  return (
    <Screen
      title="Jobs"
      actions={
        <>
          <ViewsMenu screen="jobs" query={writeUrlSearch(kept).slice(1)} />
          <ExportMenu filter={() => jobsAskedQuery(kept)} />
          {page !== undefined && page.jobs.length > 0 && (
            <BulkButtons
              actions={actionsFor(search.status ?? [])}
              filter={bulkOf(search, now())}
              what="all matching jobs"
            />
          )}
          <Allowed scope="jobs:write">
            <Link
              to="/jobs/new"
              search={
                search.definitionKey === undefined ? {} : { definition: search.definitionKey }
              }
              className="button primary"
            >
              New job
            </Link>
          </Allowed>
        </>
      }
    >
      <BulkResult />
      <FilterBar search={search} />
      {isPlaceholderData && <Searching />}
      {page === undefined || (error && isPlaceholderData) ? (
        <Waiting error={error} />
      ) : (
        <div className={isPlaceholderData ? 'stale' : undefined} aria-busy={isPlaceholderData}>
          {page.jobs.length > 0 ? (
            <JobPage search={search} page={page} />
          ) : (
            !isPlaceholderData && <NoJobs search={search} page={page} />
          )}
        </div>
      )}
    </Screen>
  );
}

/** A page of jobs, and the selection on it. */
function JobPage({ search, page }: { search: JobsSearch; page: Found }) {
  const [selected, onSelect] = useSelection(search);
  const may = useMay('jobs:write');
  return (
    <>
      <SelectionBar
        ids={selected.ids}
        jobs={page.jobs}
        actions={['retry', 'cancel', 'delete']}
        onClear={() => onSelect(NO_SELECTION)}
      />
      <SteadyTable
        key={JSON.stringify(search)}
        jobs={page.jobs}
        {...(may && { selected, onSelect })}
      />
      <Pages to="/jobs" search={search} nextCursor={page.nextCursor}>
        <span className="soft">{pageWords(page, search.sort, now())}</span>
      </Pages>
    </>
  );
}

function Searching() {
  return (
    <p className="soft" role="status">
      {progressWords(searchProgress.use(), now())}
    </p>
  );
}

/** Never a bare "none" while jobs are left that were not searched. */
function NoJobs({ search, page }: { search: JobsSearch; page: Found }) {
  const { data: known = NO_VALUES } = useQuery(searchValuesQuery());
  const misspelt = misspeltTerms(search.q ?? '', known);
  const unsearched = unsearchedWords(page.unsearched ?? []);
  if (page.nextCursor !== null) {
    return (
      <Empty title={noneYet(page.searchedUntil, search.sort, now())}>
        {unsearched !== null && <p>{unsearched}</p>}
        <Link to="/jobs" search={{ ...search, cursor: page.nextCursor }} className="button">
          Search further
        </Link>
      </Empty>
    );
  }
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
      {unsearched !== null && <p>{unsearched}</p>}
      <ul className="ways">
        {misspelt.map((one) => (
          <li key={one.typed}>
            {sentenceCase(misspeltWords(one))}{' '}
            <Link to="/jobs" search={{ ...search, q: one.corrected }}>
              Search {one.nearest}
            </Link>
          </li>
        ))}
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
