import { Link } from '@tanstack/react-router';
import type { PublishedDefinition } from '../../../src/client/job.ts';
import type { DeadLetterGroup } from '../../../src/core/failure/dead-letter.ts';
import { Moment } from './moment.tsx';
import { FailureText } from './failure-text.tsx';
import { Panel } from './panel.tsx';
import { Rows } from './rows.tsx';
import { atLeast } from '../words/jobs/bulk-words.ts';
import { ownersOf, ownerWords } from '../../../src/core/definition/owners.ts';

const SHOWN_MAX = 8;

/** Dead letters grouped by error. */
export function FailuresPanel({
  failures,
  definitions,
  ofOne = false,
}: {
  /** Of the last 24 hours. */
  failures: readonly DeadLetterGroup[];
  definitions: readonly PublishedDefinition[];
  /** All are of one definition, whose page this is. */
  ofOne?: boolean;
}) {
  const groups = failures.slice(0, SHOWN_MAX);
  const owners = ownersOf(definitions);
  if (groups.length === 0) return null;
  return (
    <Panel title="Dead letters, last 24 hours" aside={<Link to="/errors">All errors</Link>} flush>
      <Rows
        caption="Errors, most frequent first"
        rows={groups}
        keyOf={({ fingerprint }) => fingerprint}
        className="errors"
        columns={[
          {
            title: 'Count',
            kind: 'number',
            cell: ({ count, countIsExact }) => atLeast(count, countIsExact),
          },
          !ofOne && {
            title: 'Definition',
            kind: 'short',
            titled: 'in-head',
            cell: ({ jobId, definitionKeys }) => (
              <>
                <Link to="/jobs/$jobId" params={{ jobId }} className="row-link" data-row>
                  {definitionKeys.join(', ')}
                </Link>
                <span className="summary">{ownerWords(owners, definitionKeys)}</span>
              </>
            ),
          },
          {
            title: 'Error',
            kind: 'wide',
            titled: 'in-head',
            cell: (group) =>
              ofOne ? (
                <Link
                  to="/jobs/$jobId"
                  params={{ jobId: group.jobId }}
                  className="row-link remark"
                  data-row
                >
                  <FailureText {...group} />
                </Link>
              ) : (
                <FailureText {...group} />
              ),
          },
          { title: 'Last', kind: 'short', cell: ({ lastSeen }) => <Moment at={lastSeen} /> },
        ]}
      />
    </Panel>
  );
}
