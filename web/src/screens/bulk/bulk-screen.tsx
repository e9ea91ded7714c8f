import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { failureWords } from '../../../../src/core/failure/failure-words.ts';
import { bulksQuery, groupsQuery } from '../../api/failure-queries.ts';
import { AbortButton, BulkState } from '../../parts/bulk/bulk-progress.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { plainText } from '../../words/jobs/log-tail.ts';
import { BULK_WORDS, filterWords } from '../../words/jobs/bulk-words.ts';

const route = getRouteApi('/bulk');
const TONES = { running: 'busy', finished: 'later', aborted: 'warn' } as const;

export function BulkScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(bulksQuery(cursor));
  const { data: failures } = useQuery(groupsQuery({}));
  const errors = new Map(
    (failures?.groups ?? []).map((group) => [
      group.fingerprint,
      plainText(failureWords(group, true)),
    ]),
  );
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
            {
              title: 'Filter',
              titled: 'in-head',
              cell: ({ filter }) => filterWords(filter, errors),
            },
            { title: 'Progress', titled: 'in-head', cell: (bulk) => <BulkState bulk={bulk} /> },
            {
              title: 'Created',
              kind: 'short',
              cell: ({ createdAt }) => <Moment at={createdAt} />,
            },
            {
              title: 'Audit',
              kind: 'short',
              titled: 'in-head',
              cell: ({ bulkId }) => (
                <Link to="/audit" search={{ subject: bulkId }}>
                  Who and when
                </Link>
              ),
            },
            { title: 'Stop', titled: 'aloud', cell: (bulk) => <AbortButton bulk={bulk} /> },
          ]}
        />
      )}
      {page && <Pages to="/bulk" search={{ cursor }} nextCursor={page.nextCursor} />}
    </Screen>
  );
}
