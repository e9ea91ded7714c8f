import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A row of docs/seeds.md: a requirement, and how it is shown or why it is not. */
export interface SeedRow {
  id: string;
  code: string;
  shownBy: string;
}

/** A test that a row names. Without a title, its title begins with the id of the row. */
export interface NamedTest {
  file: string;
  title: string;
}

const ADMISSION = /^(?:differs|left out|measured): .+ because /;
const TEST_FILE = /^`([\w./-]+\.test\.ts)`/;
/** The first argument of `it`, `test`, or what `it.each(…)` returns. */
const TITLE = /(\b(?:it|test)(?:\.\w+)*|\))\(\s*(?:'((?:\\.|[^'\\])*)'|"([^"]*)"|`([^`]*)`)/g;
const INTEGRATION = globSync('test/integration/**/*.test.ts');
const SKIPPED = /\.(?:skip|todo|fails)$/;

export function rowsOf(page: string): SeedRow[] {
  return page.split('\n').flatMap((line) => {
    const [, id = '', , code = '', shownBy = ''] = line.split('|').map((cell) => cell.trim());
    return /^\d{3}-\d\d$/.test(id) ? [{ id, code, shownBy }] : [];
  });
}

export function isAdmission({ shownBy }: SeedRow): boolean {
  return ADMISSION.test(shownBy);
}

export function namedTest({ id, shownBy }: SeedRow): NamedTest | null {
  const found = TEST_FILE.exec(shownBy);
  if (!found) return null;
  const title = shownBy.slice(found[0].length).trim();
  return { file: pathOf(found[1] ?? ''), title: title === '' ? id : title };
}

/** A name without a folder of the checkout is one of the integration tests. */
function pathOf(name: string): string {
  if (existsSync(name)) return name;
  return INTEGRATION.find((at) => at.endsWith(`/${name}`) || basename(at) === name) ?? name;
}

/** The titles of the tests in a source, without those that never run. */
export function titlesIn(source: string): string[] {
  if (/\bdescribe\.(?:skip|todo)\(/.test(source)) return [];
  return [...source.matchAll(TITLE)].flatMap(([, callee = '', single, double, template]) => {
    const title = single?.replaceAll("\\'", "'") ?? double ?? template ?? '';
    return SKIPPED.test(callee) ? [] : [title];
  });
}

export function titlesOf(file: string): string[] {
  return existsSync(file) ? titlesIn(readFileSync(file, 'utf8')) : [];
}

/** The ids at the beginning of a title: one test may show several rows. */
export function idsIn(title: string): string[] {
  return /^(?:\d{3}-\d\d )+/.exec(title)?.[0].trim().split(' ') ?? [];
}
