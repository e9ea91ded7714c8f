import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/seeds.md', root), 'utf8');

test('docs/seeds.md names only files that are there', () => {
  const named = [...page.matchAll(/`([\w./-]+\.(?:ts|md|sql))`/g)].map(([, path = '']) =>
    path.includes('/') ? path : `test/integration/${path}`,
  );
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
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
