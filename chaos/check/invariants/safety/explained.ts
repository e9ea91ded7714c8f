import type { Micros } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import type { Execution } from '../../job-records.ts';

/** How long after it was healed a fault may still be the reason: a lease, a sweep, a few seconds. */
const AFTERMATH: Micros = 3_000_000;

/**
 * At-least-once means that a job may run again, not that it may do so for no reason. Each execution
 * that was followed by another one must have ended because the job itself failed, or because of a
 * recorded fault.
 */
export const explained = invariant(
  'X1',
  'Every re-execution is explained: by what the job did, or by a fault in the log.',
  function* (facts) {
    for (const { id, executions } of facts.records.values()) {
      for (const execution of executions.slice(0, -1)) {
        if (isOwnDoing(execution) || reasonOutside(facts, execution)) continue;
        const code = execution.claim?.ending?.errorCode ?? execution.claim?.end?.to?.state;
        yield {
          job: id,
          text: `ran again after attempt ${execution.attempt} (${code}): no reason`,
        };
      }
    }
  },
);

/** The job threw, crashed, asked to be woken later, slept, waited for a signal, fell silent, or took longer than it may. */
export function isOwnDoing({ claim, effects }: Execution): boolean {
  const did = (...whats: string[]) => effects.some(({ what }) => whats.includes(what));
  if (did('kill-worker')) return true;
  const lost = claim?.ending?.errorCode === 'LEASE_EXPIRED';
  if (!lost && did('sleep') && !did('woke')) return true;
  return !lost && did('throw', 'crash', 'snooze', 'wait', 'hang', 'stall');
}

/** The name of what disturbed the worker of this execution; null when nothing did. */
export function reasonOutside({ history, faults, instances }: Facts, execution: Execution) {
  const { claim, startAt, lastAt } = execution;
  const instance = instances.get(claim?.worker ?? '');
  const until = Math.max(lastAt, claim?.end?.at ?? lastAt);
  const { leaseMs, hearsayMs } = history.run;
  const aftermath = (leaseMs + hearsayMs) * 1_000 + AFTERMATH;
  const [fault] = faults.excusing(instance?.slot ?? '', startAt, until, aftermath);
  if (fault) return fault.kind;
  // A job may have killed the worker that others ran on as well.
  const exit = history.processes.find(
    (one) => one.phase === 'exit' && one.pid === instance?.pid && one.at >= startAt,
  );
  return exit && exit.at <= until ? 'the worker ended' : null;
}
