import { invariant } from '../../invariant.ts';

export const wholeBatches = invariant(
  'S18',
  'A batch is stored as a whole, in one transaction, or not at all.',
  function* ({ enqueues, records }) {
    const bornIn = new Map<string, string>();
    for (const { moves, final } of records.values()) {
      const [birth] = moves;
      if (final && birth) bornIn.set(final.paramsSha, birth.xid);
    }
    for (const { op, call, result } of enqueues) {
      if (call.jobs.length < 2) continue;
      const births = call.jobs.flatMap(({ paramsSha }) => bornIn.get(paramsSha) ?? []);
      const transactions = new Set(births);
      if (births.length > 0 && births.length < call.jobs.length) {
        yield { text: `batch ${op}: ${births.length} of ${call.jobs.length} jobs are stored` };
      } else if (transactions.size > 1) {
        yield { text: `batch ${op} was stored by ${transactions.size} transactions` };
      } else if (births.length > 0 && result === 'fail') {
        yield { text: `batch ${op} was refused and is stored` };
      }
    }
  },
);
