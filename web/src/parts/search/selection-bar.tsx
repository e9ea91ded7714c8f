import { Link } from '@tanstack/react-router';
import { BULK_STATES, type BulkAction } from '../../../../src/core/job/bulk.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { BULK_WORDS } from '../../words/jobs/bulk-words.ts';
import { bulkAsk } from '../bulk/bulk-ask.tsx';

/** Bulk actions on selected jobs. `jobs` are those that the page shows. */
export function SelectionBar({
  ids,
  jobs,
  actions,
  onClear,
}: {
  ids: ReadonlySet<string>;
  jobs: readonly JobView[];
  actions: readonly BulkAction[];
  onClear: () => void;
}) {
  if (ids.size === 0) return null;
  // The older job first, as time goes: ids are ordered by time.
  const [a, b, ...more] = [...ids].toSorted();
  const what = ids.size === 1 ? '1 selected job' : `${ids.size} selected jobs`;
  const seen = jobs.filter(({ jobId }) => ids.has(jobId));
  const applies = (action: BulkAction) =>
    seen.length < ids.size || seen.some(({ status }) => BULK_STATES[action].includes(status));
  return (
    <div className="selection" role="group" aria-label="Selected jobs">
      <strong role="status">{what}</strong>
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          className={`small ${action === 'retry' ? '' : 'danger'}`.trim()}
          disabled={!applies(action)}
          onClick={() => {
            const filter = { jobIds: [...ids], status: BULK_STATES[action] };
            bulkAsk.open({ action, filter, what });
          }}
        >
          {BULK_WORDS[action].verb} selected…
        </button>
      ))}
      {a !== undefined && b !== undefined && more.length === 0 && (
        <Link to="/compare" search={{ a, b }} className="button small">
          Compare
        </Link>
      )}
      <button type="button" className="quiet small" onClick={onClear}>
        Clear selection
      </button>
    </div>
  );
}
