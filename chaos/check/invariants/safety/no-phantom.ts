import { invariant } from '../../invariant.ts';
import { wantedChildren } from '../../job-records.ts';
import { askedBy } from '../../operations.ts';

/** A batch has no params of its client, so its name says which request made it. */
const ofBatch = (name: string) => `batch ${name}`;

/** Params are unlike those of any other request, so their hash says which request made a job. */
export const noPhantom = invariant(
  'S2',
  'Every job was requested, and a refused request creates none.',
  function* ({ operations, records }) {
    const asked = new Map<string, boolean>();
    for (const { call, result } of operations) {
      const jobs = askedBy(call).flatMap((job) => [job, ...wantedChildren(job)]);
      const names = jobs.map(({ paramsSha }) => paramsSha);
      if (call.name === 'batch') names.push(ofBatch(call.batch.name));
      for (const name of names) {
        asked.set(name, (asked.get(name) ?? false) || result !== 'fail');
      }
    }
    for (const { id, moves, final } of records.values()) {
      if (moves.length === 0) {
        yield { job: id, text: 'has effects, and was never stored' };
        continue;
      }
      // What schedules make is matched with their slots elsewhere.
      if (final && final.schedule !== null) continue;
      const { batch = null, paramsSha = '' } = final ?? {};
      const mayBe = asked.get(batch === null ? paramsSha : ofBatch(batch));
      if (mayBe === undefined) yield { job: id, text: 'was not enqueued by any client' };
      else if (!mayBe) yield { job: id, text: 'was made although its request was refused' };
    }
  },
);
