import type { Mutant } from './mutant.ts';

const COUNTED = `(select count(*)::int from longshore.running r
      where r.shard = $1 and g.limiter = any (r.permits))`;

/** Mistakes in how many may run at once. */
export const LIMIT_MUTANTS: readonly Mutant[] = [
  {
    name: 'count-only-limits',
    mistake: 'the claim counts running jobs for a limit, without a lock',
    changes: [
      {
        file: 'store/claim/limited-levels.ts',
        find: 'select g.limiter, g.rate, coalesce(g.lim - g.in_use, ',
        replace: `select g.limiter, g.rate, coalesce(g.lim - ${COUNTED}, `,
      },
      {
        file: 'store/claim/limited-levels.ts',
        find: 'order by g.limiter for update',
        replace: 'order by g.limiter',
      },
    ],
    caughtBy: ['S12'],
    deck: { 'link-delay': 6, 'worker-kill': 1 },
    mix: { narrow: 400 },
  },
  {
    name: 'count-only-keys',
    mistake:
      'the next job of a key gets a permit without the lock of its limiter, so two run at once',
    changes: [
      {
        file: 'store/limits/limiters.ts',
        find: 'order by k.limiter for update of k\n  ),\n  room as',
        replace: 'order by k.limiter\n  ),\n  room as',
      },
    ],
    caughtBy: ['S12'],
    deck: { 'link-delay': 6, 'worker-kill': 1 },
    mix: { narrow: 400 },
  },
];
