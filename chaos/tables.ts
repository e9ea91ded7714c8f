import { INVARIANTS } from './check/invariants.ts';
import { FAULTS } from './faults/catalogue.ts';
import { MUTANTS } from './mutants/catalogue.ts';

/** A table of docs/reliability.md: its first two lines, and its rows. */
export interface Table {
  head: string;
  rows: string[];
}

export const RELIABILITY_TABLES: readonly Table[] = [
  {
    head: '| | promise |\n|---|---|',
    rows: INVARIANTS.map(({ id, promise }) => `| ${id} | ${promise} |`),
  },
  {
    head: '| fault | | what happens |\n|---|---|---|',
    rows: FAULTS.map(({ kind, number, what }) => `| \`${kind}\` | ${number} | ${what} |`),
  },
  {
    head: '| mutant | mistake | noticed by one of |\n|---|---|---|',
    rows: MUTANTS.map(
      ({ name, mistake, caughtBy }) => `| \`${name}\` | ${mistake} | ${caughtBy.join(', ')} |`,
    ),
  },
];
