import { isTerminal } from '../../../../src/core/job/job.ts';
import { invariant } from '../../invariant.ts';

export const oneEnd = invariant(
  'S5',
  'A job that has ended stays ended, unless a user retries it.',
  function* ({ records, operations }) {
    const retried = new Set(
      operations.flatMap(({ call, result }) =>
        call.name === 'retry' && result !== 'fail' ? [call.job] : [],
      ),
    );
    for (const { id, moves } of records.values()) {
      const ends = moves.filter(({ to }) => to !== null && isTerminal(to.state));
      if (ends.length > 1 && !retried.has(id)) {
        yield { job: id, text: `ended ${ends.length} times: ${ends.map(nameOf).join(', ')}` };
      } else if (ends[0] && ends[0] !== moves.at(-1) && !retried.has(id)) {
        yield { job: id, text: `ended ${nameOf(ends[0])} and moved on` };
      }
    }
  },
);

const nameOf = ({ to }: { to: { state: string; claim: number } | null }) =>
  `${to?.state} (claim ${to?.claim})`;
