import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/seeds.md', root), 'utf8');

test('docs/seeds.md names only files that are there', () => {
  const named = [...page.matchAll(/`([\w./-]+\.(?:ts|md|sql))`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(150);
  // A name without a folder is one of the integration tests.
  const folder = new URL('test/integration/', root);
  const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((at) =>
    basename(at),
  );
  const isThere = (path: string) =>
    path.includes('/') ? existsSync(new URL(path, root)) : tests.includes(path);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test('docs/seeds.md has a test, or says "not yet", for every requirement', () => {
  const [, ...seeds] = page.split('\n## Seed ');
  expect(seeds).toHaveLength(5);
  const rows = seeds.flatMap((seed) => seed.split('\n').filter((line) => line.startsWith('| ')));
  const untold = rows.filter((row) => {
    const [, , where = '', shownBy = ''] = row.split('|');
    return shownBy.trim() === '' && !where.includes('*not yet*');
  });
  expect(untold).toEqual([]);
});
