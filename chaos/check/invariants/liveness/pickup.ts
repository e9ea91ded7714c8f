import { invariant, ms } from '../../invariant.ts';

const SLACK_MS = 1_500;

/** Probes are sent while no process receives NOTIFY; each is in a queue of its own, at the front. */
export const pickup = invariant(
  'L3',
  'Work is found by polling alone, within one poll.',
  function* ({ history, enqueues, records, faults }) {
    const bound = (history.run.pollMs + SLACK_MS) * 1_000;
    for (const { call, result, jobs, endedAt } of enqueues) {
      if (result !== 'ok' || call.jobs[0]?.does !== 'probe') continue;
      const id = jobs[0]?.id ?? '';
      const claimed = records.get(id)?.claims[0]?.at ?? Number.POSITIVE_INFINITY;
      const took = claimed - endedAt;
      if (took <= bound || faults.shared(endedAt, endedAt + bound, 0)) continue;
      const when = Number.isFinite(took) ? `claimed after ${ms(took)}` : 'never claimed';
      yield { job: id, text: `had no hint, and was ${when}` };
    }
  },
);
