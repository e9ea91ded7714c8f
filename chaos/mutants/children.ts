import type { Mutant } from './mutant.ts';

/** Mistakes with jobs that spawn jobs. */
export const CHILD_MUTANTS: readonly Mutant[] = [
  {
    name: 'open-children-left-out',
    mistake: 'a job goes on with the outcomes of the children that have ended',
    changes: [
      {
        file: 'worker/runner/spawn/children.ts',
        find: 'if (!child?.outcome) this.#waits.end(new AwaitChildren());',
        replace: 'if (!child?.outcome) continue;',
      },
    ],
    caughtBy: ['S31'],
    deck: { 'worker-kill': 2 },
    mix: { ok: 20, spawn: 20 },
  },
  {
    name: 'child-end-untold',
    mistake: 'children are stored as if no job waited for them, and the resolver is not notified',
    changes: [
      {
        file: 'store/edges/spawn-children.ts',
        find: '{ ...entry, watched: true as const }',
        replace: '{ ...entry }',
      },
    ],
    caughtBy: ['S1', 'S31', 'L1'],
    deck: { 'worker-kill': 2 },
    mix: { ok: 20, spawn: 20 },
  },
];
