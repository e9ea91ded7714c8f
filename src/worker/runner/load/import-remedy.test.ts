import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const sourceOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const define = sourceOf('../../../core/definition/define.ts');
const job = (key: string, first = '') =>
  `import { defineJob } from '${define}';\n${first}\nexport const job = defineJob({ key: '${key}', run: () => 1 });\n`;

/** What a real Node loads in a project: the loader of vitest would translate the files. */
async function load(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-load-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const loader = sourceOf('../load.ts');
  const script = `
    const { loadDefinitions } = await import(${JSON.stringify(loader)});
    const { definitions, problems } = await loadDefinitions('jobs');
    console.log(JSON.stringify({ keys: definitions.map(({ key }) => key), problems }));`;
  const args = ['--no-warnings', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  return JSON.parse(stdout) as { keys: string[]; problems: string[] };
}

/** Of a file that is not an ES module. */
const renamed = (file: string, to: string, folder: string) =>
  `job files, and the modules that they import, are ES modules, but Node reads ${file} as CommonJS: ` +
  `rename it to ${to}, or put {"type":"module"} into ${folder}/package.json`;

test('in a project with "type": "commonjs", as npm init makes it', async () => {
  const loaded = await load({
    'package.json': '{"type":"commonjs"}',
    'jobs/a.ts': job('a'),
    'jobs/b.mts': job('b'),
    'jobs/c.mts': job('c', `import { name } from '../src/name.ts'; name;`),
    'jobs/d.js': `export const d = 1;`,
    'jobs/module/e.ts': job('e'),
    'jobs/module/package.json': '{"type":"module"}',
    'jobs/f.mts': job('f', `import { old } from '../src/old.js'; old;`),
    'src/name.ts': `export const name = 'x';`,
    'src/old.js': `exports.old = 1;`,
  });
  expect(loaded).toEqual({
    keys: ['b', 'f', 'e'],
    problems: [
      `jobs/a.ts: ${renamed('jobs/a.ts', 'jobs/a.mts', 'jobs')}`,
      `jobs/c.mts: ${renamed('src/name.ts', 'src/name.mts', 'src')}`,
      `jobs/d.js: ${renamed('jobs/d.js', 'jobs/d.mjs', 'jobs')}`,
    ],
  });
});

const imports = [
  ['./_shared.js', 'jobs/_shared.js', './_shared.ts'],
  ['./_shared', 'jobs/_shared', './_shared.ts'],
  ['../src/shared.mjs', 'src/shared.mjs', '../src/shared.mts'],
] as const;
const shared = {
  'package.json': '{"type":"module"}',
  'jobs/_shared.ts': 'export const shared = 1;',
  'src/shared.mts': 'export const shared = 1;',
};
const importing = (names: readonly string[]) =>
  Object.fromEntries(
    names.map((name, at) => [
      `jobs/${at}.ts`,
      job(String(at), `import { shared } from '${name}'; shared;`),
    ]),
  );

test('an import that does not name the file says which name it has', async () => {
  const { problems } = await load({ ...shared, ...importing(imports.map(([name]) => name)) });
  expect(problems).toEqual(
    imports.map(
      ([, missing, right], at) =>
        `jobs/${at}.ts: jobs/${at}.ts imports ${missing}, which does not exist: import it as '${right}'`,
    ),
  );
  const right = importing(imports.map(([, , name]) => name));
  expect((await load({ ...shared, ...right })).problems).toEqual([]);
});

test('what Node does not translate says what to write instead', async () => {
  const { problems } = await load({
    'package.json': '{"type":"module"}',
    'jobs/a.ts': job('a', 'enum Color { Red }'),
    'jobs/b.ts': job('b', 'class A { constructor(private x: number) {} }'),
    'jobs/c.ts': job('c', 'namespace A { export const b = 1; }'),
    'jobs/d.ts': job('d', `import { gone } from './_d.ts'; gone;`),
    'jobs/_d.ts': 'export const other = 1;',
    'jobs/e.ts': job('e', `import './gone.js';`),
  });
  const refused = (file: string, what: string, instead: string) =>
    `${file}: Node only removes types, so a job file cannot have a TypeScript ${what} (${file}:2): ` +
    `${instead}; "erasableSyntaxOnly": true in tsconfig.json finds all such places`;
  expect(problems).toEqual([
    refused('jobs/a.ts', 'enum', `write const Color = { Red: 'red' } as const`),
    refused(
      'jobs/b.ts',
      'parameter property',
      'declare the field and assign it in the constructor',
    ),
    refused('jobs/c.ts', 'namespace declaration', 'write a module of its own, or an object'),
    // Other mistakes keep the words of Node.
    expect.stringContaining('does not provide an export named'),
    expect.stringContaining('Cannot find module'),
  ]);
});
