import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { bulksQuery } from '../../api/failure-queries.ts';
import { AbortButton, BulkState } from '../../parts/bulk-progress.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { BULK_WORDS, filterWords } from '../../words/bulk-words.ts';
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
        <div className="scroll">
          <table className="rows">
            <caption className="visually-hidden">Bulk actions, the newest first</caption>
            <thead>
              <tr>
                <th scope="col">Action</th>
                <th scope="col">State</th>
                <th scope="col">Which jobs</th>
                <th scope="col">How far</th>
                <th scope="col">Asked for</th>
                <th scope="col">
                  <span className="visually-hidden">Stop</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {page.bulks.map((bulk) => (
                <tr key={bulk.bulkId}>
                  <td>{BULK_WORDS[bulk.action].verb}</td>
                  <td>
                    <span className={`badge tone-${TONES[bulk.status]}`}>{bulk.status}</span>
                  </td>
                  <td>{filterWords(bulk.filter)}</td>
                  <td>
                    <BulkState bulk={bulk} />
                  </td>
                  <td className="nowrap">
                    <Moment at={bulk.createdAt} />
                  </td>
                  <td>
                    <AbortButton bulk={bulk} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
