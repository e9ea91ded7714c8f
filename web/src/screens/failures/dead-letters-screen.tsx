import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { deadLettersQuery, groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { BulkButtons } from '../../parts/bulk-buttons.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { matrixRows } from '../../words/alerts/matrix.ts';
import { WINDOWS } from '../../words/alerts/window.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { FailureFilters } from './failure-filters.tsx';
import { FailureMatrix } from './failure-matrix.tsx';
import {
  bulkOf,
  type FailuresSearch,
  groupsAsked,
  lettersAsked,
  WINDOW_DEFAULT,
} from './failures-search.ts';

const route = getRouteApi('/dead-letters');

/** Jobs that failed for good, by definition, error and time, with bulk actions. */
export function DeadLettersScreen() {
  const search = route.useSearch();
  const { data: found, error } = useQuery(groupsQuery(groupsAsked(search)));
  const { data: page } = useQuery(deadLettersQuery(lettersAsked(search)));
  const { data: definitions = [] } = useQuery(definitionsQuery());
  if (!found || !page) {
    return (
      <Screen title="Dead letters">
        <Waiting error={error} />
      </Screen>
    );
  }
  const { window: name = WINDOW_DEFAULT } = search;
  const window = name === 'all' ? null : name;
  const rows = matrixRows(found.groups);
  return (
    <Screen
      title="Dead letters"
      actions={
        page.jobs.length > 0 && (
          <BulkButtons
            actions={['retry', 'delete']}
            filter={bulkOf(search, found.from)}
            what="all matching dead letters"
          />
        )
      }
    >
      <FailureFilters key={search.q} search={search} />
      {rows.length > 0 && (
        <FailureMatrix
          rows={rows}
          window={window}
          parts={found.parts}
          from={found.from}
          search={search}
          definitions={definitions}
          complete={found.complete}
        />
      )}
      {page.jobs.length === 0 && page.nextCursor === null ? (
        <Nothing search={search} />
      ) : (
        <div className="below">
          <Panel title="Jobs" aside="latest failure first" flush>
            {page.jobs.length === 0 ? (
              <p className="soft pad">No matches on this page; later pages may have some.</p>
            ) : (
              <JobTable jobs={page.jobs} caption="Dead letters" />
            )}
          </Panel>
          <Pages search={search} nextCursor={page.nextCursor} />
        </div>
      )}
    </Screen>
  );
}

function Pages({ search, nextCursor }: { search: FailuresSearch; nextCursor: string | null }) {
  const { cursor, ...first } = search;
  return (
    <nav className="pages" aria-label="Pages">
      {cursor !== undefined && (
        <Link to="/dead-letters" search={first} className="button">
          First page
        </Link>
      )}
      {nextCursor !== null && (
        <Link to="/dead-letters" search={{ ...search, cursor: nextCursor }} className="button">
          Next page
        </Link>
      )}
    </nav>
  );
}

function Nothing({ search }: { search: FailuresSearch }) {
  const isNarrow = Object.keys(search).some((name) => name !== 'window');
  if (isNarrow) {
    return (
      <Empty title="No matching dead letters">
        <Link to="/dead-letters" search={{}}>
          Show the last 7 days
        </Link>
      </Empty>
    );
  }
  const { window = WINDOW_DEFAULT } = search;
  if (window === 'all') {
    return (
      <Empty title="No dead letters">
        <p>A job that used up its attempts, or cannot succeed, is kept here until it is retried.</p>
      </Empty>
    );
  }
  return (
    <Empty title={`No dead letters of the ${WINDOWS[window].words.toLowerCase()}`}>
      <Link to="/dead-letters" search={{ window: 'all' }}>
        Show all times
      </Link>
    </Empty>
  );
}
