import type { Micros } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';

/**
 * Jobs say when they ran, so a count of them along the clock says how many slots were taken at least.
 * A permit that no job holds, or that is held twice, shows in the counters at the end.
 */
export const slots = invariant(
  'S33',
  'A job holds one slot and its permits while it runs, and none while it waits: a worker never runs more jobs than it has slots, and at rest no permit is taken.',
  function* (facts) {
    yield* crowdedWorkers(facts);
    for (const { name, inUse, held, blocked, waiting } of facts.history.limiters) {
      if (inUse !== held) yield { text: `${name} counts ${inUse} permits, and ${held} are held` };
      if (blocked !== waiting) {
        yield { text: `${name} counts ${blocked} jobs that wait for it, and ${waiting} do` };
      }
    }
  },
);

interface Step {
  at: Micros;
  by: 1 | -1;
  job: string;
}

function* crowdedWorkers({ history, records, instances }: Facts) {
  const most = history.run.slotsPerWorker;
  if (most === undefined) return;
  const steps = new Map<string, Step[]>();
  for (const { id, executions } of records.values()) {
    for (const { claim, startAt, lastAt } of executions) {
      const worker = claim?.worker ?? '';
      const own = steps.get(worker) ?? [];
      if (own.length === 0) steps.set(worker, own);
      own.push({ at: startAt, by: 1, job: id }, { at: lastAt, by: -1, job: id });
    }
  }
  for (const [worker, own] of steps) {
    let running = 0;
    for (const { by, job } of own.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
      running += by;
      if (by === -1 || running <= most) continue;
      const slot = instances.get(worker)?.slot ?? worker;
      yield { job, text: `was one of ${running} at once in the ${most} slots of ${slot}` };
    }
  }
}
