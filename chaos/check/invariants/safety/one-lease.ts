import type { History, Micros } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import { invariant, ms } from '../../invariant.ts';
import type { Instance } from '../../instances.ts';
import type { JobRecord } from '../../job-records.ts';

/**
 * A claim that was already under way when its worker was declared dead may commit a moment later; it
 * is brought back like the others. One that only arrived this long after the death may not.
 */
const LATE: Micros = 2_000_000;

export const oneLease = invariant(
  'S6',
  'One claim at a time owns a job: numbers only grow, and a dead worker claims nothing.',
  function* (facts) {
    for (const record of facts.records.values()) {
      yield* numbers(record);
      yield* claimedByTheDead(facts, record);
    }
    for (const instance of facts.instances.values()) yield* diedTooEarly(facts, instance);
  },
);

function* numbers({ id, moves, claims }: JobRecord) {
  for (const [index, claim] of claims.entries()) {
    const previous = claims[index - 1];
    const wanted = (previous?.number ?? 0) + 1;
    if (claim.number !== wanted) {
      yield { job: id, text: `claim ${claim.number} follows ${previous?.number ?? 'none'}` };
    }
    if (previous && (!previous.end || previous.end.seq > claim.seq)) {
      yield { job: id, text: `was claimed again while claim ${previous.number} owned it` };
    }
  }
  for (const [index, { from, to }] of moves.entries()) {
    if (index > 0 && !from && to) yield { job: id, text: `appeared in ${to.place} from nowhere` };
    if (from && to && to.claim < from.claim) {
      yield { job: id, text: `its claim number went back from ${from.claim} to ${to.claim}` };
    }
  }
}

function* claimedByTheDead({ instances, faults }: Facts, { id, claims }: JobRecord) {
  for (const { number, worker, begun } of claims) {
    const instance = instances.get(worker);
    if (!instance) {
      yield { job: id, text: `claim ${number} belongs to a worker that never registered` };
      continue;
    }
    const deadAt = instance.death?.at ?? Number.POSITIVE_INFINITY;
    if (begun <= deadAt + LATE) continue;
    // While the database stood still, a death that was decided could not be seen by anybody.
    if (faults.shared(deadAt, deadAt + LATE, 0)) continue;
    const late = ms(begun - deadAt);
    yield { job: id, text: `claim ${number} was made ${late} after its worker was declared dead` };
  }
}

/** Before its lease is over only the worker itself may end it: when it stops, or is back as another. */
function* diedTooEarly({ history, faults }: Facts, instance: Instance) {
  const { id, slot, pid, death, leaseEnd, backAt } = instance;
  if (!death || death.at >= leaseEnd || (backAt !== null && backAt <= death.at)) return;
  const stops = history.phases.some(({ name, at }) => name === 'stop' && at <= death.at);
  const asked = faults.windows.some(
    ({ kind, pids, from }) => kind === 'worker-stop' && pids.includes(pid) && from <= death.at,
  );
  // The worker process of a server that was killed notices it, and stops in good order.
  const orphaned = history.processes.some(
    (one) =>
      one.slot === slot &&
      one.phase === 'exit' &&
      isParent(history, one.pid, pid) &&
      one.at <= death.at,
  );
  if (stops || asked || orphaned) return;
  const early = ms(leaseEnd - death.at);
  yield { text: `worker ${id} (${slot}) was declared dead ${early} before its lease was over` };
}

function isParent({ processes }: History, parent: number, pid: number): boolean {
  return processes.some((one) => one.pid === pid && one.parent === parent);
}
