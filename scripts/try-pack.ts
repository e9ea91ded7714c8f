/**
 * Packs the package, installs it into an empty project and uses it there, as a user
 * would who installs it from a registry: `npm run try-pack`. It works on a copy of the checkout, since packing changes
 * package.json for a moment.
 *
 *   --install      really run `npm install` on the tarball, which needs a registry or a full cache;
 *                  without it the dependencies of the checkout are linked
 *   --node PATH    try it with this Node as well; may be repeated
 *
 * With DATABASE_URL that database is used, without it the package starts its own PostgreSQL.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machinePath } from '../test/support/machine-node.ts';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKED = ['src', 'web', 'scripts', 'sql', 'bin', 'docs', 'examples/jobs'];
const FILES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'README.md'];
/** All that the client may need: neither a database driver nor a web server is among them. */
const CLIENT_NEEDS = ['eventsource-parser', 'standardwebhooks', '@stablelib', 'fast-sha256'];

/** Ways to find types that a package of ES modules has nothing to do with. */
const OLD = ['node10', 'node16-cjs'];

const { values } = parseArgs({
  options: { install: { type: 'boolean' }, node: { type: 'string', multiple: true } },
});
const scratch = mkdtempSync(join(tmpdir(), 'longshore-pack-'));
try {
  const tarball = pack();
  tell('publint', () => run(ROOT, node('publint/src/cli.js'), 'run', tarball, '--strict'));
  const wrong = await typeProblems(tarball);
  tell('types, as arethetypeswrong resolves them', () => {
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
  });
  const project = join(scratch, 'project');
  write(project, projectFiles());
  tell(values.install ? 'npm install' : 'installed by links', () => install(tarball, project));
  tell('docs', () => statSync(join(project, 'node_modules/longshore/docs/quick-start.md')));
  for (const resolution of ['node16', 'bundler']) {
    const module = resolution === 'node16' ? 'node16' : 'esnext';
    const flags = ['--moduleResolution', resolution, '--module', module];
    tell(`types, ${resolution}`, () => run(project, node('typescript/bin/tsc'), ...flags));
  }
  const lonely = join(scratch, 'lonely');
  write(lonely, lonelyFiles());
  installByLinks(tarball, lonely, CLIENT_NEEDS);
  const machine = { PATH: machinePath() };
  const linked = join(project, 'node_modules/longshore/bin/longshore.js');
  tell('the command line, with the Node of this machine', () =>
    startIn(machine, 'node', project, linked, '--version'),
  );
  for (const program of [process.execPath, ...(values.node ?? [])]) {
    const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
    const bin = 'node_modules/longshore/bin/longshore.js';
    tell(`${version}, the client without pg`, () => start(program, lonely, 'main.mjs'));
    tell(`${version}, the command line`, () => start(program, project, bin, '--version'));
    tell(`${version}, tests`, () => start(program, project, '--test', 'hello.test.ts'));
    tell(`${version}, inside an application`, () => start(program, project, 'main.ts'));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function pack(): string {
  const copy = join(scratch, 'checkout');
  for (const path of [...PACKED, ...FILES]) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const said = execFileSync('npm', ['pack', '--json', '--pack-destination', scratch], {
    cwd: copy,
    encoding: 'utf8',
    // What npm complains about becomes part of the error, should it fail.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Versions of npm differ in what they wrap it in.
  const parsed = Object.values(JSON.parse(said) as Record<string, Packed>)[0];
  if (!parsed) throw new Error(`npm pack said ${said}`);
  const { filename, size, unpackedSize, entryCount } = parsed;
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} kB`;
  console.log(
    `${filename}: ${kilobytes(size)}, ${kilobytes(unpackedSize)} unpacked, ${entryCount} files`,
  );
  return join(scratch, filename);
}

/** Each current way of resolving types must find the right ones. */
async function typeProblems(tarball: string): Promise<string[]> {
  const data = new Uint8Array(readFileSync(tarball));
  const checked = await checkPackage(createPackageFromTarballData(data));
  if (!checked.types) return ['the package has no types'];
  return checked.problems
    .filter((problem) => !('resolutionKind' in problem && OLD.includes(problem.resolutionKind)))
    .map((problem) => JSON.stringify(problem));
}

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  entryCount: number;
}

function install(tarball: string, project: string): void {
  // npm keeps its environment: registry, proxy and certificates may be set there.
  const args = ['install', '--no-audit', '--no-fund', tarball];
  if (values.install) startIn(process.env, 'npm', project, ...args);
  else installByLinks(tarball, project, readdirSync(join(ROOT, 'node_modules')));
}

function installByLinks(tarball: string, project: string, names: readonly string[]): void {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'longshore'), { recursive: true });
  run(project, 'tar', '-xzf', tarball, '--strip-components=1', '-C', join(modules, 'longshore'));
  for (const name of names.filter((one) => !one.startsWith('.') && one !== 'longshore')) {
    const target = join(ROOT, 'node_modules', name);
    if (!statSync(target).isDirectory()) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(target, join(modules, name));
  }
}

function projectFiles(): Record<string, string> {
  const strict = { strict: true, noEmit: true, target: 'es2024', types: ['node'] };
  const erasable = { allowImportingTsExtensions: true, skipLibCheck: false };
  return {
    'package.json': JSON.stringify({ type: 'module', private: true, ...ownDependencies() }),
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...strict, ...erasable } }),
    'jobs/hello.ts': `import { defineJob } from 'longshore';
      import { z } from 'zod';
      export const hello = defineJob({
        key: 'hello', params: z.object({ name: z.string() }),
        run: ({ name }) => ({ greeting: 'Hello, ' + name }),
      });`,
    'hello.test.ts': `import assert from 'node:assert/strict';
      import { test } from 'node:test';
      import { runJob } from 'longshore/testing';
      import { hello } from './jobs/hello.ts';
      test('it greets', async () => {
        const { result } = await runJob(hello, { name: 'you' });
        assert.equal(result?.greeting satisfies string | undefined, 'Hello, you');
      });`,
    'main.ts': `import { createLongshore } from 'longshore';
      import { Longshore, NotFound } from 'longshore/client';
      import { hello } from './jobs/hello.ts';
      const longshore = await createLongshore({
        databaseUrl: process.env['DATABASE_URL'], jobs: new URL('./jobs', import.meta.url).pathname,
      });
      const job = await longshore.enqueue(hello, { name: 'you' });
      const { greeting } = await job.result({ timeoutMs: 60_000 });
      // @ts-expect-error The definition says that a name is a text.
      const wrong = () => longshore.enqueue(hello, { name: 5 });
      if ((greeting satisfies string) !== 'Hello, you' || !wrong) throw new Error(greeting);
      if (!new Longshore({ url: 'http://127.0.0.1:1' }) || !NotFound) throw new Error('no client');
      await longshore.stop();`,
  };
}

/** What a project brings itself; with links they are there already. */
function ownDependencies(): object {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const { dependencies, devDependencies } = manifest;
  const types = { '@types/node': devDependencies['@types/node'] };
  return { dependencies: { zod: dependencies['zod'] }, devDependencies: types };
}

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

function lonelyFiles(): Record<string, string> {
  return {
    'package.json': JSON.stringify({ type: 'module' }),
    'main.mjs': `import { Longshore } from 'longshore/client';
      import { defineJob } from 'longshore';
      const missing = await import('pg').then(() => false, () => true);
      if (!missing) throw new Error('pg is there: this proves nothing');
      defineJob({ key: 'a', run: () => 1 });
      const error = await new Longshore({ url: 'http://127.0.0.1:1', retries: 0 }).list().catch((e) => e);
      if (error.name !== 'ServerUnreachable') throw error;`,
  };
}

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A program of the checkout's dependencies. */
function node(path: string): string {
  return join(ROOT, 'node_modules', path);
}

function tell(what: string, work: () => void): void {
  work();
  console.log(`ok  ${what}`);
}

function run(cwd: string, program: string, ...args: string[]): void {
  if (/\.js$|\/bin\/tsc$/.test(program)) start(process.execPath, cwd, program, ...args);
  else start(program, cwd, ...args);
}

/** Nothing of the environment of this script may be what makes the package work. */
function start(program: string, cwd: string, ...args: string[]): void {
  const { PATH, HOME, DATABASE_URL } = process.env;
  startIn({ PATH, HOME, DATABASE_URL }, program, cwd, ...args);
}

function startIn(env: NodeJS.ProcessEnv, program: string, cwd: string, ...args: string[]): void {
  try {
    execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
