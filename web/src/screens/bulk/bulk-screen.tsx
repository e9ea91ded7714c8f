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

/** What people have done to many jobs at once, and how far it has come. */
export function BulkScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(bulksQuery(cursor));
  return (
    <Screen title="Bulk actions">
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.bulks.length === 0 ? (
        <Empty title="Nothing was done to many jobs at once.">
          <p>Jobs and dead letters can be retried, cancelled and deleted by what is filtered.</p>
        </Empty>
      ) : (
        <Rows
          caption="Bulk actions, the newest first"
          rows={page.bulks}
          keyOf={({ bulkId }) => bulkId}
          columns={[
            { title: 'Action', titled: 'in-head', cell: ({ action }) => BULK_WORDS[action].verb },
            {
              title: 'State',
              titled: 'in-head',
              cell: ({ status }) => <span className={`badge tone-${TONES[status]}`}>{status}</span>,
            },
            { title: 'Which jobs', titled: 'in-head', cell: ({ filter }) => filterWords(filter) },
            { title: 'How far', titled: 'in-head', cell: (bulk) => <BulkState bulk={bulk} /> },
            {
              title: 'Asked for',
              kind: 'short',
              cell: ({ createdAt }) => <Moment at={createdAt} />,
            },
            {
              title: 'Who',
              kind: 'short',
              titled: 'in-head',
              cell: ({ bulkId }) => (
                <Link to="/audit" search={{ subject: bulkId }}>
                  Who asked
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
