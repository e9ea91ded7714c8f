import type { Mutant } from './mutant.ts';

/** Mistakes with jobs that wait for other jobs. */
export const PARENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'first-parent-is-enough',
    mistake: 'a job starts when one of its parents has succeeded, and does not wait for the others',
    changes: [
      {
        file: 'core/dependency/dependency.ts',
        find: "return { kind: open ? 'wait' : 'run' };",
        replace: "return { kind: 'run' };",
      },
      {
        file: 'store/claim/resume.ts',
        find: '(e.ended is null or (e.ended',
        replace: '((e.ended',
      },
    ],
    caughtBy: ['S30'],
    deck: { 'worker-kill': 2 },
    mix: { ok: 40, slow: 20 },
  },
  {
    name: 'watched-end-untold',
    mistake:
      'the short statement settles jobs that others wait for, and the resolver is not notified',
    changes: [
      {
        file: 'store/claim/settle-and-claim.ts',
        find: 'and permits is null and watched is null',
        replace: 'and permits is null',
      },
      {
        file: 'store/claim/few.ts',
        find: '&& settlements <= FEW;',
        replace: '&& settlements <= 0;',
      },
      // Workers send the short statement no job that was watched when they claimed it.
      {
        file: 'worker/attempt/outcome-writer.ts',
        find: '&& !job.watched',
        replace: '',
      },
    ],
    caughtBy: ['S1', 'S30', 'L1'],
    deck: { 'worker-kill': 2 },
    mix: { ok: 60 },
  },
];
