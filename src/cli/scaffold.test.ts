import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scaffold } from './scaffold.ts';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
}

const own = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as Manifest;
const made = JSON.parse(scaffold('my-jobs')['package.json'] ?? '') as Manifest;

test('a new project begins with the versions that this one is tested with', () => {
  const known = { ...own.dependencies, ...own.devDependencies };
  const { longshore: _, ...others } = { ...made.dependencies, ...made.devDependencies };
  const expected = Object.keys(others).map((name) => [name, `^${known[name]}`]);
  expect(others).toEqual(Object.fromEntries(expected));
});

test('Node and PostgreSQL may run their scripts when they are installed, as here', () => {
  expect(made.allowScripts).toEqual(own.allowScripts);
});
