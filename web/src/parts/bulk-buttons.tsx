import type { BulkFilter } from '../../../src/client/bulk.ts';
import type { BulkAction } from '../../../src/core/job/bulk.ts';
import { useMay } from '../api/use-may.ts';
import { BULK_WORDS, bulkFilter } from '../words/jobs/bulk-words.ts';
import { bulkAsk } from './bulk-ask.tsx';

/**
 * Buttons for bulk actions on all matching jobs; none without a filter, which would match every
 * job.
 */
export function BulkButtons({
  actions,
  filter,
  what,
  short = false,
}: {
  actions: readonly BulkAction[];
  filter: BulkFilter;
  what: string;
  /** Only the verb, for table rows. */
  short?: boolean;
}) {
  if (!useMay('jobs:write')) return null;
  return actions.map((action) => {
    const meant = bulkFilter(action, filter);
    if (meant === null) return null;
    const { verb } = BULK_WORDS[action];
    return (
      <button
        key={action}
        type="button"
        className={`${short ? 'small' : ''} ${action === 'retry' ? '' : 'danger'}`.trim()}
        aria-label={short ? `${verb} ${what}` : undefined}
        onClick={() => bulkAsk.open({ action, filter: meant, what })}
      >
        {short ? verb : `${verb} all matching…`}
      </button>
    );
  });
}
