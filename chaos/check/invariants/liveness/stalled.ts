import type { Micros } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import { invariant, ms } from '../../invariant.ts';
import type { Execution } from '../../job-records.ts';

/** Beside the stall timeout: to stop the process, to write the outcome, and a busy machine. */
const SLACK: Micros = 5_000_000;
/** After a fault its worker has so long to be back. */
const RECOVERY: Micros = 5_000_000;

export const stalled = invariant(
  'L13',
  'A job that falls silent is ended soon after its stall timeout, although its worker is alive.',
  function* (facts) {
    for (const { id, wanted, executions } of facts.records.values()) {
      const limitMs = wanted?.stallTimeoutMs;
      if (limitMs === undefined) continue;
      for (const execution of executions) {
        const text = problem(facts, limitMs, execution);
        if (text !== null) yield { job: id, text };
      }
    }
  },
);

function problem(facts: Facts, limitMs: number, { claim, effects, attempt }: Execution) {
  const { history, faults, instances } = facts;
  const silentAt = effects.find(({ what }) => what === 'stall')?.at;
  if (silentAt === undefined || !claim) return null;
  const bound = silentAt + limitMs * 1_000 + SLACK;
  const endedAt = claim.end?.at ?? Number.POSITIVE_INFINITY;
  if (endedAt <= bound) return null;
  const slot = instances.get(claim.worker)?.slot ?? '';
  const aftermath = history.run.leaseMs * 1_000 + RECOVERY;
  if (faults.reaching(slot, silentAt, bound, aftermath).length > 0) return null;
  const late = claim.end ? `ended ${ms(endedAt - silentAt)} later` : 'was never ended';
  return `attempt ${attempt} fell silent and ${late} (${claim.ending?.errorCode ?? 'no outcome'})`;
}
