import type { Facts } from '../../facts.ts';
import { invariant, ms } from '../../invariant.ts';
import { type Claim, CLOCK_SLACK, type Execution, type Story } from '../../stories.ts';

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
      [...facts.stories.values()].flatMap((story) =>
        story.executions.map((execution) => [execution.id, execution] as const),
      ),
    );
    for (const story of facts.stories.values()) {
      for (const { claim, what, execution } of writesOf(story)) {
        const text = problem(story, claim, executions.get(execution));
        if (text) yield { job: story.id, text: `${what} of claim ${claim.number} ${text}` };
      }
    }
    yield* progress(facts, executions);
  },
);

function* writesOf({ claims }: Story) {
  for (const claim of claims) {
    const result = claim.end?.to?.execution;
    if (result) yield { claim, what: 'the result', execution: result };
    if (claim.ending?.execution) {
      yield { claim, what: 'the error', execution: claim.ending.execution };
    }
  }
}

function problem(story: Story, claim: Claim, execution: Execution | undefined): string | null {
  if (!execution) return 'comes from an execution that nobody saw';
  if (execution.job !== story.id) return `comes from job ${execution.job}`;
  if (execution.attempt !== claim.attempts) {
    return `comes from attempt ${execution.attempt}, and the claim is attempt ${claim.attempts}`;
  }
  const early = claim.at - execution.startAt;
  return early > CLOCK_SLACK ? `comes from an execution begun ${ms(early)} before the claim` : null;
}

function* progress({ history, stories }: Facts, executions: ReadonlyMap<string, Execution>) {
  for (const row of history.progress) {
    const story = stories.get(row.job);
    const claim = story?.claims.find(({ number }) => number === row.claim);
    if (!story || !claim) continue;
    const text = problem(story, claim, executions.get(row.execution));
    if (text) yield { job: row.job, text: `the progress of claim ${row.claim} ${text}` };
  }
}
