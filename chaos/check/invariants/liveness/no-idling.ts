import type { Micros } from '../../../history/history.ts';
import type { Period } from '../../free-slots.ts';
import { invariant, ms } from '../../invariant.ts';
import type { JobRecord } from '../../job-records.ts';
import { REMOTE } from '../../remote-slots.ts';

/** Between two looks at the queue there are no more polls than this (`worker/claim/poll-interval.ts`). */
const POLLS = 10;
/** Beside that: the look, the claim, and the timers of a machine that is busy. */
const SLACK: Micros = 1_500_000;

/** Jobs that a limit may hold back are left out, and those whose code a worker may have to load. */
export const noIdling = invariant(
  'L12',
  'No queued job waits for longer than ten polls while a healthy worker has a free slot.',
  function* ({ history, records, instances, freeSlots }) {
    const bound = POLLS * history.run.pollMs * 1_000 + SLACK;
    for (const record of records.values()) {
      if (record.wanted?.limits || record.wanted?.does === 'deployed') continue;
      for (const period of queuedPeriods(record)) {
        if (period.until - period.from <= bound) continue;
        // A worker beside the database ends a batch: its jobs are counted there.
        const isBatch = (record.final?.batch ?? null) !== null;
        const isMeant = (worker: string) =>
          !isBatch || !instances.get(worker)?.slot.startsWith(REMOTE);
        const idle = freeSlots.idleDuring(period, bound, isMeant);
        if (!idle) continue;
        const text = `was queued for ${ms(idle.took)} while ${idle.worker} had a free slot`;
        yield { job: record.id, text };
      }
    }
  },
);

function queuedPeriods({ moves }: JobRecord): Period[] {
  return moves.flatMap(({ to, at }, index) => {
    const next = moves[index + 1];
    if (to?.place !== 'waiting' || to.state !== 'queued') return [];
    return [{ from: at, until: next?.at ?? Infinity }];
  });
}
