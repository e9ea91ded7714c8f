import { invariant } from '../../invariant.ts';
import { askedBy } from '../../operations.ts';

/** A batch is one with its jobs and callbacks; so are the jobs that are added to it by one request. */
export const wholeBatches = invariant(
  'S18',
  'The jobs of one request are stored as a whole, in one transaction, or not at all.',
  function* ({ operations, records }) {
    const bornIn = new Map<string, string>();
    for (const { moves, final } of records.values()) {
      const [birth] = moves;
      if (final && birth) bornIn.set(final.batch ?? final.paramsSha, birth.xid);
    }
    for (const { op, call, result } of operations) {
      const asked = askedBy(call).map(({ paramsSha }) => paramsSha);
      if (call.name === 'batch') asked.push(call.batch.name);
      if (asked.length < 2) continue;
      const births = asked.flatMap((name) => bornIn.get(name) ?? []);
      const transactions = new Set(births);
      if (births.length > 0 && births.length < asked.length) {
        yield { text: `request ${op}: ${births.length} of ${asked.length} jobs are stored` };
      } else if (transactions.size > 1) {
        yield { text: `request ${op} was stored by ${transactions.size} transactions` };
      } else if (births.length > 0 && result === 'fail') {
        yield { text: `request ${op} was refused and is stored` };
      }
    }
  },
);
