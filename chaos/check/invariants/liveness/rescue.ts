import type { Micros } from '../../../history/history.ts';
import { invariant, ms } from '../../invariant.ts';

/** Beside one sweep: writing it, and the timers of a machine that is busy. */
const SLACK: Micros = 1_500_000;
/** After the database was away everybody has so long to be back. */
const RECOVERY: Micros = 5_000_000;

/**
 * A worker that says in Redis that it lives has the time of a usual lease to renew one that is over.
 * One that is back under another id ends its former lease itself, however long that is: it writes the
 * outcomes that it still had, and gives the lease up.
 */
export const rescue = invariant(
  'L2',
  'The jobs of a lost worker are claimable again one sweep after its lease is over (also L6).',
  function* ({ history, records, instances, faults }) {
    const { pollMs, hearsayMs, leaseMs } = history.run;
    const sweep = pollMs * 1_000 + SLACK;
    const spared = hearsayMs > 0 ? leaseMs * 1_000 : 0;
    for (const { id, claims } of records.values()) {
      for (const { number, worker, end, ending } of claims) {
        const instance = instances.get(worker);
        if (ending?.errorCode !== 'LEASE_EXPIRED' || !end || !instance) continue;
        const { leaseEnd, backAt, slot } = instance;
        const took = end.at - leaseEnd;
        if (took > sweep + spared && !faults.shared(leaseEnd, end.at, RECOVERY)) {
          yield { job: id, text: `claim ${number} was taken back ${ms(took)} after its lease` };
        }
        const back = backAt ?? end.at;
        const since = end.at - back;
        // The fault that cost it its lease is healed by then; only another one excuses it.
        const disturbed = faults.reaching(slot, back + SLACK, end.at, 0).length > 0;
        if (since <= RECOVERY + sweep || disturbed) continue;
        yield {
          job: id,
          text: `claim ${number} was taken back ${ms(since)} after its worker was back`,
        };
      }
    }
  },
);
