import { invariant, ms } from '../../invariant.ts';

export const drain = invariant(
  'L1',
  'When the faults stop, everything that is due ends within a bound known beforehand.',
  function* ({ history }) {
    const began = history.phases.find(({ name }) => name === 'drain')?.at;
    const ended = history.phases.find(({ name }) => name === 'drained')?.at;
    const boundMs = history.run.drainBoundMs;
    if (began === undefined) yield { text: 'the run never came to its drain' };
    else if (ended === undefined) yield { text: `not everything had ended after ${boundMs} ms` };
    else if (ended - began > boundMs * 1_000) {
      yield { text: `draining took ${ms(ended - began)}, more than ${boundMs} ms` };
    }
  },
);
