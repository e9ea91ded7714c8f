import type { Mutant } from './mutant.ts';

/** Mistakes in the first seconds of a server. */
export const START_MUTANTS: readonly Mutant[] = [
  {
    name: 'start-without-supervision',
    mistake:
      'a server whose worker process is killed before it was up ends, with jobs acknowledged',
    changes: [
      {
        file: 'runtime/processes/child-service.ts',
        find: 'if (refused && !everUp) throw refused;',
        replace: "if (!everUp) throw refused ?? new StartRefusal('configuration', end);",
      },
    ],
    caughtBy: ['P1'],
    server: true,
    startUp: { 'server-worker-kill': 2 },
    deck: { 'server-worker-kill': 1 },
  },
  {
    name: 'start-needs-database',
    mistake: 'a server that cannot reach the database when it starts ends',
    changes: [
      {
        file: 'runtime/persist.ts',
        find: 'if (error instanceof StartRefusal || signal.aborted) throw error;',
        replace: 'throw error;',
      },
    ],
    caughtBy: ['P1'],
    startUp: { 'first-contact-refused': 3 },
    deck: { 'worker-kill': 1 },
  },
];
