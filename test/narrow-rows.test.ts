import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/**
 * A job moves between narrow rows, and each move is a new row: whatever a statement does not name is
 * lost. So every statement of the store that writes one is listed here, with the options of the caller
 * that it carries on. A new one must be added, and says why if it leaves one out.
 */
const STORE = fileURLToPath(new URL('../src/store/', import.meta.url));

/** New jobs that no caller asked for, or that by definition have no option of the kind. */
const WITHOUT_WISHES = [
  'waiting delivery-jobs.ts',
  'waiting deliveries.ts',
  'waiting fire-alerts.ts',
  'waiting hook-jobs.ts',
  'waiting messages.ts',
  'waiting enqueue-plain.ts',
];

const CARRYING = [
  'waiting enqueue.ts',
  'waiting retry-jobs.ts',
  'waiting settle-parts.ts',
  'waiting unique-jobs.ts',
  'waiting watch-parents.ts',
  'running claim.ts',
  'running few.ts',
  'running limited-write.ts',
];

it('keeps for a job that it fails when no worker has its code', () => {
  const carrying: string[] = [];
  const without: string[] = [];
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' });
  for (const path of files.filter((name) => name.endsWith('.ts'))) {
    const source = readFileSync(STORE + path, 'utf8');
    const file = basename(path);
    const inserts = /insert into longshore\.(waiting|running)\s*\(([^)]*)\)/g;
    for (const [, table, columns = ''] of source.matchAll(inserts)) {
      const list = columns.includes('fails_unserved') ? carrying : without;
      list.push(`${table} ${file}`);
    }
  }
  expect(new Set(carrying)).toEqual(new Set(CARRYING));
  expect(new Set(without)).toEqual(new Set(WITHOUT_WISHES));
});
