import { isTerminal } from '../../../../src/core/job/job.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import { CLOCK_SLACK, type JobRecord } from '../../job-records.ts';

/** The database says when each job was claimed and when each parent ended. */
export const parents = invariant(
  'S30',
  'A job starts after all of its parents have succeeded, or ended if it asked for that, and it does not wait any longer.',
  function* (facts) {
    for (const record of facts.records.values()) {
      if (!record.wanted?.after) continue;
      const text = wrongWith(facts, record, record.wanted.after);
      if (text !== null) yield { job: record.id, text };
    }
  },
);

function wrongWith({ records }: Facts, record: JobRecord, after: readonly string[]): string | null {
  const { claims, final, wanted } = record;
  const ends = after.map((id) => {
    const end = records.get(id)?.moves.find(({ to }) => to !== null && isTerminal(to.state));
    return { id, at: end?.at ?? null, state: end?.to?.state ?? null };
  });
  const [first] = claims;
  for (const { id, at, state } of first ? ends : []) {
    if (at === null) return `ran, and its parent ${id} has not ended`;
    if (at > (first?.at ?? 0) + CLOCK_SLACK) return `was claimed before its parent ${id} ended`;
    if (state !== 'succeeded' && !wanted?.runsAnyway) return `ran, and its parent ${id} ${state}`;
  }
  if (final?.state === 'suspended' && ends.every(({ at }) => at !== null)) {
    return 'still waits, and all of its parents have ended';
  }
  const unsuccessful = ends.some(({ state }) => state !== null && state !== 'succeeded');
  if (final?.errorCode === 'PARENT_FAILED' && !unsuccessful) {
    return 'failed because of a parent, and all of them succeeded';
  }
  return null;
}
