import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/internals.md', root), 'utf8');

/** Paths are written from `src`, and without the ending of their file. */
test('docs/internals.md names only files and folders that are there', () => {
  const named = [...page.matchAll(/`([a-z]+(?:\/[a-z-]+)+)(?:\.ts)?`/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(40);
  const places = (path = '') => [`src/${path}.ts`, `src/${path}`, path, `${path}.ts`];
  const missing = named.filter((path) => !places(path).some((at) => existsSync(new URL(at, root))));
  expect(missing).toEqual([]);
});

test('docs/internals.md says what is in every folder of src', () => {
  const rows =
    page
      .split('\n## Folders\n')[1]
      ?.split('\n## ')[0]
      ?.match(/^\| `.*? \|/gm) ?? [];
  const listed = rows.flatMap((row) => [...row.matchAll(/`([a-z]+)`/g)].map(([, name]) => name));
  const folders = readdirSync(new URL('src/', root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(new Set(listed)).toEqual(new Set(folders));
});
