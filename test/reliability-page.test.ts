import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { INVARIANTS } from '../chaos/check/invariants.ts';
import { FAULTS } from '../chaos/faults/catalogue.ts';
import { MUTANTS } from '../chaos/mutants/catalogue.ts';

/** The page promises what the code checks, no more and no less. */
const page = readFileSync(new URL('../docs/reliability.md', import.meta.url), 'utf8');

test.each([
  ['invariant', INVARIANTS.map(({ id, promise }) => `| ${id} | ${promise} |`)],
  ['fault', FAULTS.map(({ kind, number, what }) => `| \`${kind}\` | ${number} | ${what} |`)],
  [
    'mutant',
    MUTANTS.map(
      ({ name, mistake, caughtBy }) => `| \`${name}\` | ${mistake} | ${caughtBy.join(', ')} |`,
    ),
  ],
])('docs/reliability.md has a row for every %s, as the code has it', (_, rows) => {
  expect(rows.filter((row) => !page.includes(`${row}\n`))).toEqual([]);
});

test('docs/reliability.md tells of nothing that the code does not have', () => {
  const known = [...FAULTS.map(({ kind }) => kind), ...MUTANTS.map(({ name }) => name)];
  const told = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  expect(told.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});
