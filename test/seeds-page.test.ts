import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  idsIn,
  isAdmission,
  namedTest,
  rowsOf,
  titlesIn,
  titlesOf,
} from './support/checks/seeds-page.ts';

const rows = rowsOf(readFileSync('docs/seeds.md', 'utf8'));
const ids = (some: readonly { id: string }[]) => some.map(({ id }) => id);

it('docs/seeds.md numbers the requirements of each seed without a gap', () => {
  for (const seed of ['000', '001', '002', '003', '004']) {
    const own = ids(rows).filter((id) => id.startsWith(seed));
    expect(own.length).toBeGreaterThan(15);
    expect(own).toEqual(own.map((_, n) => `${seed}-${String(n + 1).padStart(2, '0')}`));
  }
});

it('docs/seeds.md demonstrates or admits every requirement, and never both', () => {
  const wrong = rows.filter((row) => isAdmission(row) === (namedTest(row) !== null));
  expect(ids(wrong)).toEqual([]);
});

it('docs/seeds.md names tests that run', () => {
  const missing = rows.filter((row) => {
    const named = namedTest(row);
    if (!named) return false;
    const titles = titlesOf(named.file);
    return named.title === row.id
      ? titles.filter((title) => idsIn(title).includes(row.id)).length !== 1
      : !titles.includes(named.title);
  });
  expect(missing).toEqual([]);
});

it('every test of a seed is named by its row', () => {
  const files = globSync('test/integration/seeds/*.test.ts');
  expect(files).toHaveLength(5);
  for (const file of files) {
    const shown = titlesOf(file).flatMap(idsIn);
    const named = rows.filter(
      (row) => namedTest(row)?.file === file && namedTest(row)?.title === row.id,
    );
    expect([...shown].sort()).toEqual(ids(named));
  }
});

it('docs/seeds.md names code that is there', () => {
  const paths = rows.flatMap(({ code }) => code.match(/(?<=`)[\w.-]+\/[\w./-]*(?=`)/g) ?? []);
  expect(paths.length).toBeGreaterThan(200);
  expect([...new Set(paths)].filter((path) => !existsSync(path))).toEqual([]);
});

it('a test that is skipped demonstrates nothing', () => {
  expect(titlesIn("it('runs', () => {}); it.skip('waits', () => {});")).toEqual(['runs']);
  expect(titlesIn("it.each([f(1)])('%i', () => {}); test.todo('later');")).toEqual(['%i']);
  expect(titlesIn("describe.skip('all', () => it('never', () => {}));")).toEqual([]);
});
