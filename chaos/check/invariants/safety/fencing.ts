import type { Facts } from '../../facts.ts';
import { invariant, ms } from '../../invariant.ts';
import { type Claim, CLOCK_SLACK, type Execution, type JobRecord } from '../../job-records.ts';

/**
 * Whatever is stored about a claim names the execution that it came from: the result, the error, the
 * progress. That execution must have begun under this very claim. A worker that lost its lease and
 * was believed all the same shows up as an outcome of an older execution.
 */
export const fencing = invariant(
  'S7',
  'Every accepted write of a worker belongs to the claim that owns the job.',
  function* (facts) {
    const executions = new Map(
      [...facts.records.values()].flatMap((record) =>
        record.executions.map((execution) => [execution.id, execution] as const),
      ),
    );
    for (const record of facts.records.values()) {
      for (const { claim, what, execution } of writesOf(record)) {
        const text = problem(record, claim, executions.get(execution));
        if (text) yield { job: record.id, text: `${what} of claim ${claim.number} ${text}` };
      }
    }
    yield* progress(facts, executions);
  },
);

function* writesOf({ claims }: JobRecord) {
  for (const claim of claims) {
    const result = claim.end?.to?.execution;
    if (result) yield { claim, what: 'the result', execution: result };
    if (claim.ending?.execution) {
      yield { claim, what: 'the error', execution: claim.ending.execution };
    }
  }
}

function problem(record: JobRecord, claim: Claim, execution: Execution | undefined): string | null {
  if (!execution) return 'comes from an unknown execution';
  if (execution.job !== record.id) return `comes from job ${execution.job}`;
  if (execution.attempt !== claim.attempts) {
    return `comes from attempt ${execution.attempt}, and the claim is attempt ${claim.attempts}`;
  }
  const early = claim.at - execution.startAt;
  return early > CLOCK_SLACK ? `comes from an execution begun ${ms(early)} before the claim` : null;
}

function* progress({ history, records }: Facts, executions: ReadonlyMap<string, Execution>) {
  for (const row of history.progress) {
    const record = records.get(row.job);
    const claim = record?.claims.find(({ number }) => number === row.claim);
    if (!record || !claim) continue;
    const text = problem(record, claim, executions.get(row.execution));
    if (text) yield { job: row.job, text: `the progress of claim ${row.claim} ${text}` };
  }
}
