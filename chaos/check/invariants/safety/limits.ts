import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import type { JobRecord } from '../../job-records.ts';

interface Step {
  seq: number;
  by: 1 | -1;
  job: string;
}

/**
 * A transaction that takes or returns a permit locks the row of the limiter until it ends. So, among
 * the jobs of one limit, the order of the row events is the order of the permits, and a count along
 * it is exact at each instant.
 */
export const limits = invariant(
  'S12',
  'Never do more jobs run than a limit of their definition or their key lets.',
  function* ({ records }) {
    for (const [name, { most, steps }] of limitsOf(records)) {
      let running = 0;
      for (const { by, job } of steps.toSorted((a, b) => a.seq - b.seq)) {
        running += by;
        if (by === 1 && running > most) {
          yield { job, text: `was one of ${running} at once where ${name} lets ${most}` };
        }
      }
    }
  },
);

/** How often as many ran as were let: below that, a limit is no test. */
export function fullMoments({ records }: Facts): number {
  let moments = 0;
  for (const { most, steps } of limitsOf(records).values()) {
    let running = 0;
    for (const { by } of steps.toSorted((a, b) => a.seq - b.seq)) {
      running += by;
      if (by === 1 && running === most && most > 1) moments += 1;
    }
  }
  return moments;
}

function limitsOf(records: Map<string, JobRecord>): Map<string, { most: number; steps: Step[] }> {
  const found = new Map<string, { most: number; steps: Step[] }>();
  for (const { id, wanted, claims } of records.values()) {
    const steps = claims.flatMap(({ seq, end }): Step[] => [
      { seq, by: 1, job: id },
      ...(end ? [{ seq: end.seq, by: -1 as const, job: id }] : []),
    ]);
    for (const { name, most } of wanted?.limits ?? []) {
      const known = found.get(name);
      if (known) known.steps.push(...steps);
      else found.set(name, { most, steps: [...steps] });
    }
  }
  return found;
}
