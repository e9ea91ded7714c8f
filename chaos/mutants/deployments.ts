import type { Mutant } from './mutant.ts';

const MANY = { mix: { deployed: 120 }, deploys: 6 };

/** Mistakes in which code a job gets. */
export const DEPLOYMENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'newest-archive-for-all',
    mistake: 'a worker fetches the newest archive, whatever deployment it loads',
    changes: [
      {
        file: 'store/deployments/served.ts',
        find: 'select d.number, d.tenant, d.sha256, a.format',
        replace: 'select d.number, d.tenant, a.sha256, a.format',
      },
      {
        file: 'store/deployments/served.ts',
        find: 'on a.tenant = d.tenant and a.sha256 = d.sha256',
        replace:
          'on a.tenant = d.tenant and a.sha256 = (select n.sha256 from longshore.deployment n order by n.number desc limit 1)',
      },
    ],
    caughtBy: ['S26'],
    deck: { 'worker-kill': 4 },
    ...MANY,
  },
  {
    name: 'releases-remembered',
    mistake: 'an API remembers for a minute what is released, so a rollback at another one is late',
    changes: [
      {
        file: 'store/enqueue/catalog.ts',
        find: 'const FRESH_MS = 1_000;',
        replace: 'const FRESH_MS = 60_000;',
      },
    ],
    caughtBy: ['S27'],
    deck: { 'worker-kill': 1 },
    ...MANY,
  },
  {
    name: 'old-archives-deleted',
    mistake: 'the collector deletes the archives of all deployments that are not released',
    changes: [
      {
        file: 'deployments/collector.ts',
        find: 'const EVERY_MS = 600_000;',
        replace: 'const EVERY_MS = 200;',
      },
      {
        file: 'store/deployments/collect.ts',
        find: "a.removed_at is null and a.created_at < clock_timestamp() - interval '1 day'",
        replace: 'a.removed_at is null',
      },
      {
        file: 'store/deployments/collect.ts',
        find: '(d.retired_at is null\n                         or d.retired_at',
        replace:
          '(exists (select 1 from longshore.release r where r.current = d.number)\n                         or d.retired_at',
      },
    ],
    caughtBy: ['S28'],
    deck: { 'worker-kill': 2 },
    ...MANY,
  },
];
