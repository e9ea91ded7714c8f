import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { bulksQuery } from '../../api/failure-queries.ts';
import { AbortButton, BulkState } from '../../parts/bulk-progress.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { BULK_WORDS, filterWords } from '../../words/jobs/bulk-words.ts';
import { textOf } from '../../words/url-search.ts';

const route = getRouteApi('/bulk');
const TONES = { running: 'busy', finished: 'good', aborted: 'warn' } as const;

export function bulkSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

export function BulkScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(bulksQuery(cursor));
  return (
    <Screen title="Bulk actions">
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.bulks.length === 0 ? (
        <Empty title="No bulk actions yet.">
          <p>Filter jobs or dead letters to retry, cancel or delete all matching ones.</p>
        </Empty>
      ) : (
        <Rows
          caption="Bulk actions, newest first"
          rows={page.bulks}
          keyOf={({ bulkId }) => bulkId}
          columns={[
            { title: 'Action', titled: 'in-head', cell: ({ action }) => BULK_WORDS[action].verb },
            {
              title: 'State',
              titled: 'in-head',
              cell: ({ status }) => <span className={`badge tone-${TONES[status]}`}>{status}</span>,
            },
            { title: 'Filter', titled: 'in-head', cell: ({ filter }) => filterWords(filter) },
            { title: 'Progress', titled: 'in-head', cell: (bulk) => <BulkState bulk={bulk} /> },
            {
              title: 'Created',
              kind: 'short',
              cell: ({ createdAt }) => <Moment at={createdAt} />,
            },
            {
              title: 'Actor',
              kind: 'short',
              titled: 'in-head',
              cell: ({ bulkId }) => (
                <Link to="/audit" search={{ subject: bulkId }}>
                  Audit entry
                </Link>
              ),
            },
            { title: 'Stop', titled: 'aloud', cell: (bulk) => <AbortButton bulk={bulk} /> },
          ]}
        />
      )}
      {page?.nextCursor && (
        <nav className="pages" aria-label="Pages">
          <Link to="/bulk" search={{ cursor: page.nextCursor }} className="button">
            Next page
          </Link>
        </nav>
      )}
    </Screen>
  );
}
