import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';
import { groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { BulkResult } from '../../parts/bulk/bulk-result.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Moment } from '../../parts/moment.tsx';
import { RunbookLink } from '../../parts/runbook-link.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { Spark } from '../../parts/spark.tsx';
import { atLeast } from '../../words/jobs/bulk-words.ts';
import { ownersOf, ownerWords, runbooksOf } from '../../../../src/core/definition/owners.ts';

/** Errors: dead letters grouped by fingerprint. */
export function ErrorsScreen() {
  const { data: ever, error } = useQuery(groupsQuery({}));
  const { data: recent } = useQuery(groupsQuery({ window: '24h', inParts: true }));
  const { data: definitions = [] } = useQuery(definitionsQuery());
  if (!ever || !recent) {
    return (
      <Screen title="Errors">
        <Waiting error={error} />
      </Screen>
    );
  }
  const owners = ownersOf(definitions);
  const runbooks = runbooksOf(definitions);
  const lastDay = new Map(recent.groups.map((group) => [group.fingerprint, group]));
  return (
    <Screen title="Errors">
      <BulkResult />
      <p className="soft under-title">
        The dead letters by cause: one row per error. Attempts that were retried are not counted: a
        job that failed again after a retry counts with its latest failure.
      </p>
      {ever.groups.length === 0 ? (
        <Empty title="No dead letters">
          <p>
            Failed jobs with the same error appear here as one row. A retried job leaves the list
            until it fails again.
          </p>
        </Empty>
      ) : (
        <Rows
          caption="Errors, most frequent first"
          rows={ever.groups}
          keyOf={({ fingerprint }) => fingerprint}
          className="errors"
          columns={[
            {
              title: 'Dead letters',
              kind: 'number',
              cell: ({ count, countIsExact }) => atLeast(count, countIsExact),
            },
            {
              title: 'Error',
              kind: 'wide',
              titled: 'in-head',
              cell: (group) => (
                <Link
                  to="/dead-letters"
                  search={{ fingerprint: group.fingerprint, window: 'all' }}
                  className="row-link remark"
                  data-row
                >
                  <FailureText {...group} />
                </Link>
              ),
            },
            {
              title: 'Definitions',
              titled: 'in-head',
              cell: ({ definitionKeys, versions }) => (
                <>
                  {definitionKeys.join(', ')}
                  <span className="summary">
                    {ownerWords(owners, definitionKeys)} · version {versions.join(', ')}
                  </span>
                  {definitionKeys.map((key) => (
                    <RunbookLink key={key} url={runbooks.get(key)} />
                  ))}
                </>
              ),
            },
            {
              title: 'Last 24 hours',
              kind: 'short',
              cell: ({ fingerprint }) => <Lately group={lastDay.get(fingerprint)} />,
            },
            {
              title: 'Oldest',
              kind: 'short',
              spare: true,
              cell: ({ firstSeen }) => <Moment at={firstSeen} />,
            },
            { title: 'Newest', kind: 'short', cell: ({ lastSeen }) => <Moment at={lastSeen} /> },
            {
              title: 'Example',
              kind: 'short',
              titled: 'in-head',
              cell: ({ jobId }) => (
                <Link to="/jobs/$jobId" params={{ jobId }}>
                  View example
                </Link>
              ),
            },
          ]}
        />
      )}
      {!ever.complete && <p className="soft pad">Only the most frequent errors are shown.</p>}
    </Screen>
  );
}

function Lately({ group }: { group: DeadLetterGroup | undefined }) {
  if (!group) return <span className="soft">0</span>;
  const times = atLeast(group.count, group.countIsExact);
  return (
    <>
      <Spark counts={group.trend} label={`${times} times in 24 hours`} /> {times}
    </>
  );
}
