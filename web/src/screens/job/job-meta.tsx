import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { fingerprintOf } from '../../../../src/core/failure/fingerprint.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { RunbookLink } from '../../parts/runbook-link.tsx';
import { atLeast } from '../../words/jobs/bulk-words.ts';
import { runbooksOf } from '../../../../src/core/definition/owners.ts';

/** Owner, runbook, age and frequency of the error. */
export function JobMeta({ job }: { job: JobView }) {
  const { owner, finishedAt, status, definitionKey } = job;
  const { data: definitions = [] } = useQuery(definitionsQuery());
  return (
    <p className="meta">
      <span>
        {owner === null ? (
          'No owner'
        ) : (
          <>
            Owner <strong>{owner}</strong>
          </>
        )}
      </span>
      {finishedAt !== null && (
        <span>
          Ended <Moment at={finishedAt} />
        </span>
      )}
      {status === 'failed' && <HowOften job={job} />}
      <RunbookLink url={runbooksOf(definitions).get(definitionKey)} />
    </p>
  );
}

/**
 * How often jobs of this definition failed with the same error. If secrets were redacted from the
 * error, its fingerprint may differ here; then nothing is shown.
 */
function HowOften({ job: { definitionKey, error } }: { job: JobView }) {
  const { data } = useQuery(groupsQuery({ definitionKey, window: '24h' }));
  const fingerprint = error && fingerprintOf(error);
  const group = data?.groups.find((one) => one.fingerprint === fingerprint);
  if (!group) return null;
  return (
    <Link
      to="/dead-letters"
      search={{ definitionKey, fingerprint: group.fingerprint, window: '24h' }}
    >
      {group.count === 1
        ? 'The only dead letter with this error in the last 24 hours'
        : `Same error: now ${atLeast(group.count, group.countIsExact)} dead letters of the last 24 hours`}
    </Link>
  );
}
