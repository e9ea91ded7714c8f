import { useState } from 'react';
import type { BulkFilter } from '../../../src/client/bulk.ts';
import type { BulkAction } from '../../../src/core/bulk.ts';
import { BULK_WORDS, bulkFilter } from '../words/bulk-words.ts';
import { BulkDialog } from './bulk-dialog.tsx';

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
  const [asking, setAsking] = useState<BulkAction | null>(null);
  const meant = asking === null ? null : bulkFilter(asking, filter);
  return (
    <>
      {actions
        .filter((action) => bulkFilter(action, filter) !== null)
        .map((action) => (
          <button
            key={action}
            type="button"
            className={`${short ? 'small' : ''} ${action === 'retry' ? '' : 'danger'}`.trim()}
            aria-label={short ? `${BULK_WORDS[action].verb} ${what}` : undefined}
            onClick={() => setAsking(action)}
          >
            {short ? BULK_WORDS[action].verb : `${BULK_WORDS[action].verb} all that match…`}
          </button>
        ))}
      {asking !== null && meant !== null && (
        <BulkDialog action={asking} filter={meant} what={what} onClose={() => setAsking(null)} />
      )}
    </>
  );
}
