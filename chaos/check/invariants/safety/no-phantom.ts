import { invariant } from '../../invariant.ts';
import { wantedChildren } from '../../job-records.ts';

/** Params are unlike those of any other request, so their hash says which request made a job. */
export const noPhantom = invariant(
  'S2',
  'Every job was requested, and a refused request creates none.',
  function* ({ enqueues, records }) {
    const asked = new Map<string, boolean>();
    for (const { call, result } of enqueues) {
      const jobs = call.jobs.flatMap((job) => [job, ...wantedChildren(job)]);
      for (const { paramsSha } of jobs) {
        asked.set(paramsSha, (asked.get(paramsSha) ?? false) || result !== 'fail');
      }
    }
    for (const { id, moves, final } of records.values()) {
      if (moves.length === 0) {
        yield { job: id, text: 'has effects, and was never stored' };
        continue;
      }
      // What schedules make is matched with their slots elsewhere.
      if (final && final.schedule !== null) continue;
      const mayBe = asked.get(final?.paramsSha ?? '');
      if (mayBe === undefined) yield { job: id, text: 'was not enqueued by any client' };
      else if (!mayBe) yield { job: id, text: 'was made although its request was refused' };
    }
  },
);
