import type { Mutant } from './mutant.ts';

/** Mistakes with jobs that spawn jobs. */
export const CHILD_MUTANTS: readonly Mutant[] = [
  {
    name: 'open-children-count-as-ended',
    mistake: 'a job that waits for its children goes on at once, and takes open ones for ended',
    changes: [
      {
        file: 'store/claim/resume.ts',
        find: "then not ${hasOpenChild('w.id')} else",
        replace: 'then true else',
      },
      {
        file: 'store/edges/load-children.ts',
        find: 'outcome: outcomes.get(child) ?? null',
        replace:
          "outcome: outcomes.get(child) ?? { state: 'succeeded', resultJson: null, error: null }",
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
