import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BulkView } from '../../../../src/core/job/bulk.ts';
import { call } from '../../api/call.ts';
import { bulkPreviewQuery, bulkQuery } from '../../api/failure-queries.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import {
  atLeast,
  bulkFraction,
  bulkSentence,
  failedAgainFilter,
} from '../../words/jobs/bulk-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';

const AGAIN_MS = 3_000;

/** Progress of a bulk action, with a stop button. */
export function BulkProgress({ bulk: began, onClose }: { bulk: BulkView; onClose: () => void }) {
  const { data: bulk = began } = useQuery(bulkQuery(began.bulkId));
  return (
    <>
      <BulkState bulk={bulk} />
      <FailedAgain bulk={bulk} onClose={onClose} />
      <div className="dialog-actions">
        <Link to="/bulk" className="button" onClick={onClose}>
          All bulk actions
        </Link>
        <AbortButton bulk={bulk} />
        <button type="button" className="primary" onClick={onClose}>
          {bulk.status === 'running' ? 'Run in background' : 'Close'}
        </button>
      </div>
    </>
  );
}

/** How many of the retried jobs have failed again so far. */
function FailedAgain({ bulk, onClose }: { bulk: BulkView; onClose: () => void }) {
  const filter = failedAgainFilter(bulk);
  const { data } = useQuery({
    ...bulkPreviewQuery('retry', filter ?? {}),
    enabled: filter !== null,
    refetchInterval: AGAIN_MS,
  });
  if (!data || data.matched === 0) return null;
  const { definitionKey, fingerprint, errorCode } = bulk.filter as Record<string, string>;
  const search = { window: 'all' as const, from: bulk.createdAt };
  return (
    <p className="wrong" role="status">
      So far {atLeast(data.matched, data.matchedIsExact)} failed again.{' '}
      <Link
        to="/dead-letters"
        search={{
          ...search,
          ...(definitionKey !== undefined && { definitionKey }),
          ...(fingerprint !== undefined && { fingerprint }),
          ...(errorCode !== undefined && { errorCode }),
        }}
        onClick={onClose}
      >
        View them
      </Link>
    </p>
  );
}

export function BulkState({ bulk }: { bulk: BulkView }) {
  const fraction = bulkFraction(bulk);
  return (
    <div className="bulk-state">
      <p role="status">{bulkSentence(bulk)}</p>
      {bulk.status === 'running' &&
        (fraction === null ? (
          <progress aria-label="Progress" />
        ) : (
          <progress value={fraction} max={1} aria-label="Progress" />
        ))}
      {bulk.note !== null && <p className="wrong">{plainText(bulk.note)}</p>}
    </div>
  );
}

export function AbortButton({ bulk: { bulkId, status } }: { bulk: BulkView }) {
  const abort = useChange(
    async () => await call<BulkView>('POST', `/v1/bulk/${bulkId}/abort`),
    () => 'Stopped. Jobs already changed stay changed.',
  );
  const may = useMay('jobs:write');
  if (status !== 'running' || !may) return null;
  return (
    <button type="button" className="danger" onClick={() => abort.mutate(undefined)}>
      Stop
    </button>
  );
}
