import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** `bin/built.cjs` in a checkout whose build is a script that counts how often it runs. */

const BIN = fileURLToPath(new URL('../bin/', import.meta.url));
const BUILD = `
import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
appendFileSync('builds', 'x');
mkdirSync('dist/code-1', { recursive: true });
const { size, mtimeMs } = statSync('src/index.ts');
writeFileSync('dist/code.json', JSON.stringify({
  folder: 'dist/code-1',
  files: [['src/index.ts', size, mtimeMs]],
}));
`;

let root = '';

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'longshore-built-')));
  for (const folder of ['bin', 'src', 'scripts', 'node_modules/rolldown']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const name of ['built.cjs', 'longshore.js', 'hide-environment.js']) {
    copyFileSync(join(BIN, name), join(root, 'bin', name));
  }
  writeFileSync(join(root, 'package.json'), '{ "type": "module", "version": "1.2.3" }');
  writeFileSync(join(root, 'src/index.ts'), 'export {};');
  writeFileSync(join(root, 'scripts/build-code.ts'), BUILD);
  writeFileSync(join(root, 'node_modules/rolldown/index.js'), '');
  writeFileSync(join(root, 'builds'), '');
});

afterEach(() => rmSync(root, { recursive: true }));

/** As a process of its own sees it. */
function folder(): string {
  const script = `console.log(String(require('./bin/built.cjs').builtFolder()))`;
  const made = spawnSync(process.execPath, ['--eval', script], { cwd: root, encoding: 'utf8' });
  return made.stdout.trim();
}

const FOLDER = 'dist/code-1';

/** The first text on stderr, and what is on stdout in the end. */
async function said(): Promise<{ line: string; stdout: string }> {
  rmSync(join(root, 'read'), { force: true });
  const script = `console.log(require('./bin/built.cjs').builtFolder().slice(${root.length + 1}))`;
  const child = spawn(process.execPath, ['--eval', script], { cwd: root });
  let line = '';
  child.stderr.setEncoding('utf8').once('data', (words: string) => {
    line = words;
    writeFileSync(join(root, 'read'), '');
  });
  return { stdout: (await text(child.stdout)).trim(), line };
}

const builds = () => readFileSync(join(root, 'builds'), 'utf8').length;

test('a checkout builds at the first start, and then only when a source has changed', () => {
  expect([folder(), folder(), builds()]).toEqual([...twice(join(root, 'dist/code-1')), 1]);
  writeFileSync(join(root, 'src/index.ts'), 'export const a = 1;');
  expect([folder(), folder(), builds()]).toEqual([...twice(join(root, 'dist/code-1')), 2]);
  utimesSync(join(root, 'src/index.ts'), 1, 1);
  expect([folder(), builds()]).toEqual([join(root, 'dist/code-1'), 3]);
});

test('it says so before it builds, on stderr', async () => {
  // This build goes on only after the test has read the line.
  const wait = `import { existsSync } from 'node:fs'; while (!existsSync('read'));`;
  writeFileSync(join(root, 'scripts/build-code.ts'), `${wait}\n${BUILD}`);
  const first = await said();
  expect(first).toEqual({ line: 'Building Longshore once (a few seconds)…\n', stdout: FOLDER });
  expect(await said()).toEqual({ line: '', stdout: FOLDER });
  writeFileSync(join(root, 'src/index.ts'), 'export const a = 1;');
  expect(await said()).toMatchObject({
    line: 'Building Longshore again, because its sources have changed (a few seconds)…\n',
  });
});

test('a build whose folder is gone is made again', () => {
  folder();
  rmSync(join(root, 'dist/code-1'), { recursive: true });
  expect([folder(), builds()]).toEqual([join(root, 'dist/code-1'), 2]);
});

test('a checkout that cannot build runs its sources', () => {
  writeFileSync(join(root, 'scripts/build-code.ts'), 'process.exit(1);');
  expect(folder()).toBe('null');
  rmSync(join(root, 'node_modules'), { recursive: true });
  expect(folder()).toBe('null');
});

test.each(['--version', '-V'])('%s builds nothing', (flag) => {
  const args = ['bin/longshore.js', flag];
  expect(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })).toBe('1.2.3\n');
  expect(builds()).toBe(0);
});

test('a package has its build', () => {
  rmSync(join(root, 'src'), { recursive: true });
  expect(folder()).toBe(join(root, 'dist'));
});

function twice(path: string): string[] {
  return [path, path];
}
