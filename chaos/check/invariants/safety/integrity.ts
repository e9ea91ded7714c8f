import { invariant } from '../../invariant.ts';

export const integrity = invariant(
  'S21',
  'A job gets the params it was made with, and what it returned is what is stored.',
  function* ({ enqueues, records }) {
    const sent = new Map<string, string>();
    for (const { result, call, jobs } of enqueues) {
      if (result !== 'ok') continue;
      for (const [index, { id }] of jobs.entries()) {
        sent.set(id, call.jobs[index]?.paramsSha ?? '');
      }
    }
    for (const { id, final, executions } of records.values()) {
      const paramsSha = sent.get(id) ?? final?.paramsSha;
      if (final && final.paramsSha !== paramsSha)
        yield { job: id, text: 'has other params stored' };
      for (const { attempt, paramsSha: got } of executions) {
        if (got !== paramsSha) yield { job: id, text: `attempt ${attempt} got other params` };
      }
      // What a batch stores is counted (S32): no code of the run makes it.
      if (final?.state !== 'succeeded' || (final.batch ?? null) !== null) continue;
      const returned = executions.flatMap(({ effects }) =>
        effects.flatMap(({ resultSha }) => resultSha ?? []),
      );
      if (!returned.includes(final.resultSha ?? '')) {
        yield { job: id, text: 'has a result stored that no execution returned' };
      }
    }
  },
);
