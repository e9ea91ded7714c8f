import type { Micros } from '../../history/history.ts';
import { invariant, ms } from '../invariant.ts';

/** Beside one sweep: writing it, and the timers of a machine that is busy. */
const SLACK: Micros = 1_500_000;
/** After the database was away everybody has so long to be back. */
const RECOVERY: Micros = 5_000_000;

export const rescue = invariant(
  'L2',
  'The jobs of a lost worker are claimable again one sweep after its lease is over (also L6).',
  function* ({ history, stories, instances, faults }) {
    const { pollMs, hearsayMs } = history.run;
    const bound = (pollMs + hearsayMs) * 1_000 + SLACK;
    for (const { id, claims } of stories.values()) {
      for (const { number, worker, end, ending } of claims) {
        const instance = instances.get(worker);
        if (ending?.errorCode !== 'LEASE_EXPIRED' || !end || !instance) continue;
        const took = end.at - instance.leaseEnd;
        if (took <= bound || faults.shared(instance.leaseEnd, end.at, RECOVERY)) continue;
        yield { job: id, text: `claim ${number} was taken back ${ms(took)} after its lease` };
      }
    }
  },
);
