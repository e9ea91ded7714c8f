import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RELIABILITY_TABLES } from '../chaos/tables.ts';

const page = readFileSync(new URL('../docs/reliability.md', import.meta.url), 'utf8');

/** The page promises what the code checks, no more and no less. `npm run docs` mends it. */
test.each(RELIABILITY_TABLES)(
  'docs/reliability.md has the table $head as the code has it',
  (table) => {
    const [, after = ''] = page.split(`${table.head}\n`);
    expect(after.slice(0, after.indexOf('\n\n')).split('\n')).toEqual(table.rows);
  },
);
