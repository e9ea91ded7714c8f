import { invariant } from '../../invariant.ts';

export const noLeftovers = invariant(
  'L11',
  'Nothing is left behind: no process and no connection outlives the servers.',
  function* ({ history: { leftovers } }) {
    for (const command of leftovers.processes) yield { text: `still runs: ${command}` };
    if (leftovers.connections > 0) {
      yield { text: `${leftovers.connections} connections are still open` };
    }
  },
);
