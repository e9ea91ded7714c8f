import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BulkView } from '../../../src/core/job/bulk.ts';
import { call } from '../api/call.ts';
import { bulkQuery } from '../api/failure-queries.ts';
import { useChange } from '../api/use-change.ts';
import { useMay } from '../api/use-may.ts';
import { bulkFraction, bulkSentence } from '../words/jobs/bulk-words.ts';
import { plainText } from '../words/jobs/log-tail.ts';

/** Progress of a bulk action, with a stop button. */
export function BulkProgress({ bulk: began, onClose }: { bulk: BulkView; onClose: () => void }) {
  const { data: bulk = began } = useQuery(bulkQuery(began.bulkId));
  return (
    <>
      <BulkState bulk={bulk} />
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
