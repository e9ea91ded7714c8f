import type { BulkFilter } from '../../../../src/client/bulk.ts';
import type { BulkAction } from '../../../../src/core/job/bulk.ts';
import { useMay } from '../../api/use-may.ts';
import { useNarrow } from '../../runtime/narrow.ts';
import { BULK_WORDS, bulkFilter } from '../../words/jobs/bulk-words.ts';
import { Drop } from '../search/drop.tsx';
import { bulkAsk } from './bulk-ask.tsx';

/**
 * Buttons for bulk actions on all matching jobs; none without a filter, which would match every
 * job. On a phone they are in a menu.
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
  const mayWrite = useMay('jobs:write');
  const folds = useNarrow() && !short;
  const meant = actions.flatMap((action) => {
    const own = bulkFilter(action, filter);
    return own === null ? [] : [{ action, filter: own }];
  });
  if (!mayWrite || meant.length === 0) return null;
  const buttons = meant.map(({ action, filter: own }) => {
    const { verb } = BULK_WORDS[action];
    return (
      <button
        key={action}
        type="button"
        className={`${short ? 'small' : ''} ${action === 'retry' ? '' : 'danger'}`.trim()}
        aria-label={short ? `${verb} ${what}` : undefined}
        onClick={() => bulkAsk.open({ action, filter: own, what })}
      >
        {short ? verb : `${verb} all matching…`}
      </button>
    );
  });
  return folds ? <Drop label="Actions">{buttons}</Drop> : buttons;
}
