import type { Mutant } from './mutant.ts';

/** Mistakes with jobs that wait for a signal. */
export const SIGNAL_MUTANTS: readonly Mutant[] = [
  {
    name: 'early-signal-lost',
    mistake: 'a job that begins to wait does not look for a signal that came before',
    changes: [
      {
        file: 'store/claim/settle.ts',
        find: 'resumed: await resumeJobs(tx, shard, ids)',
        replace: 'resumed: NONE_RESUMED',
      },
    ],
    caughtBy: ['S29', 'L1'],
    deck: { 'worker-kill': 2 },
    mix: { wait: 40 },
  },
];
