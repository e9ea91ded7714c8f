import type { BulkFilter } from '../../../src/client/bulk.ts';
import type { BulkAction } from '../../../src/core/job/bulk.ts';
import { useMay } from '../api/use-may.ts';
import { BULK_WORDS, bulkFilter } from '../words/jobs/bulk-words.ts';
import { bulkAsk } from './bulk-ask.tsx';

/** What can be done to all jobs that match. Without any filter it would be all jobs: then nothing. */
export function BulkButtons({
  actions,
  filter,
  what,
  short = false,
}: {
  actions: readonly BulkAction[];
  filter: BulkFilter;
  /** Which jobs, in words. */
  what: string;
  /** In a row of a table there is room for a word only. */
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
        {short ? verb : `${verb} all that match…`}
      </button>
    );
  });
}
