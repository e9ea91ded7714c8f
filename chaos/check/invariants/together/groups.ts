import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import type { Execution, JobRecord } from '../../job-records.ts';

/** Each job of a group says in which call it ran, and how it left it. */
export const groups = invariant(
  'S34',
  'A group has at most its size of jobs of its definition, each once, and each gets its own outcome.',
  function* (facts) {
    for (const items of groupsOf(facts).values()) {
      const jobs = new Set(items.map(({ record }) => record.id));
      const [first] = items;
      const job = first?.record.id ?? '';
      const most = first?.record.wanted?.groupSize ?? 0;
      if (items.length > most) {
        yield { job, text: `ran in a group of ${items.length}, and ${most} is the most` };
      }
      if (jobs.size < items.length) yield { job, text: 'was in one group more than once' };
      const other = items.find(({ record }) => record.wanted?.groupSize === undefined);
      if (other) yield { job: other.record.id, text: 'ran in a group of another definition' };
      for (const { record, execution } of items) {
        const text = wrongOutcome(execution);
        if (text !== null) yield { job: record.id, text };
      }
    }
  },
);

interface Item {
  record: JobRecord;
  execution: Execution;
}

export function groupsOf({ records }: Facts): Map<string, Item[]> {
  const found = [...records.values()].flatMap((record) =>
    record.executions.flatMap((execution) =>
      execution.effects[0]?.group === undefined
        ? []
        : [{ record, execution, group: execution.effects[0].group }],
    ),
  );
  return Map.groupBy(found, ({ group }) => group);
}

function wrongOutcome({ effects, claim, attempt }: Execution): string | null {
  const did = (what: string) => effects.some((one) => one.what === what);
  if (claim?.end?.to?.state === 'succeeded' && !did('end')) {
    return `attempt ${attempt} is stored as a success, and did not return`;
  }
  const failed = claim?.ending?.errorCode === 'HANDLER_ERROR';
  return failed && !did('throw')
    ? `attempt ${attempt} is stored as failed, and did not fail`
    : null;
}
