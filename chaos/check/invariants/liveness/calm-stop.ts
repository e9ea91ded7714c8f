import type { Micros } from '../../../history/history.ts';
import { invariant, ms } from '../../invariant.ts';

const SLACK: Micros = 8_000_000;

export const calmStop = invariant(
  'L10',
  'A worker that is asked to stop gives its jobs back itself, within its grace.',
  function* ({ history, records, instances, faults }) {
    const bound = history.run.drainMs * 1_000 + SLACK;
    for (const stop of faults.windows.filter(({ kind }) => kind === 'worker-stop')) {
      const [slot = ''] = stop.targets;
      const [pid] = stop.pids;
      const exit = history.processes.find(
        (one) => one.pid === pid && one.phase === 'exit' && one.at >= stop.from,
      );
      const exitAt = exit?.at ?? Number.POSITIVE_INFINITY;
      const others = faults
        .reaching(slot, stop.from, Math.min(exitAt, stop.from + bound), bound)
        .filter((other) => other !== stop);
      if (others.length > 0) continue;
      const took = exitAt - stop.from;
      if (took > bound) {
        yield { text: `${slot} had not stopped after ${Number.isFinite(took) ? ms(took) : 'all'}` };
      }
      for (const { id, claims } of records.values()) {
        for (const { number, worker, end, ending } of claims) {
          const instance = instances.get(worker);
          if (instance?.pid !== pid || !end || end.at < stop.from) continue;
          if (ending?.errorCode === 'LEASE_EXPIRED') {
            yield { job: id, text: `${slot} stopped and left claim ${number} to run out` };
          }
        }
      }
    }
  },
);
