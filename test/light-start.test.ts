import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import * as exported from 'longshore';
import * as exportedClient from 'longshore/client';
import * as exportedBatteries from 'longshore/batteries';
import * as exportedTesting from 'longshore/testing';
import * as client from '../src/client/index.ts';
import * as index from '../src/index.ts';
import * as batteries from '../src/batteries/index.ts';
import * as testing from '../src/testing/index.ts';
import { builtModules, PACKAGE_ROOT, programFile } from '../src/runtime/code.ts';
import { type CodeFiles, type FromRunner, messageLine } from '../src/worker/ipc.ts';

/**
 * Every job process imports `longshore`, so what that loads costs all of them. Times differ from
 * machine to machine; the number of loaded files and their kind do not.
 */

const DEFINITION = fileURLToPath(new URL('./support/fixtures/fresh/pid.ts', import.meta.url));
/** Prints the URL of each loaded file. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) writeSync(2, 'loaded ' + url + '\\n');
      return next(url, context);
    },
  });
`)}`;

const LOAD_WORKER = `
  await import(${JSON.stringify(pathToFileURL(programFile('app/worker-process')).href)});
  process.exit(0);
`;

function loadedBy(...args: string[]): string[] {
  const options = { encoding: 'utf8', cwd: PACKAGE_ROOT } as const;
  const { status, stderr } = spawnSync(process.execPath, ['--import', HOOK, ...args], options);
  expect(status).toBe(0);
  return filesIn(stderr);
}

function filesIn(stderr: string): string[] {
  return [...stderr.matchAll(/^loaded file:\/\/(.*)$/gm)].map(([, path = '']) => path);
}

const heavy = (path: string) => path.endsWith('.ts') || path.includes('/node_modules/');

test.each(['longshore', 'longshore/client'])('%s is a few built files', (name) => {
  const files = loadedBy('--input-type=module', '--eval', `import '${name}'`);
  expect(files.filter(heavy)).toEqual([]);
  expect(files.length).toBeLessThan(10);
});

/** Functions that Node 20 does not have. The documentation promises the client to applications on Node 20. */
const NEWER_THAN_20 =
  /Promise\.(withResolvers|try)|\b(Map|Object)\.groupBy|Array\.fromAsync|RegExp\.escape/g;

test('longshore/client uses nothing that Node 20 lacks', () => {
  const files = loadedBy('--input-type=module', '--eval', `import 'longshore/client'`);
  const found = files.flatMap((file) => readFileSync(file, 'utf8').match(NEWER_THAN_20) ?? []);
  expect(found).toEqual([]);
});

test.each(['--version', '--help'])('longshore %s loads no server', (flag) => {
  const files = loadedBy(`${PACKAGE_ROOT}/bin/longshore.js`, flag);
  expect(files.filter(heavy)).toEqual([]);
  expect(files.length).toBeLessThan(15);
});

test('a worker process of a server loads no code of the API, and no client of webhooks', () => {
  const folder = dirname(programFile('app/worker-process'));
  const files = loadedBy('--input-type=module', '--eval', LOAD_WORKER);
  expect(files.filter((path) => path.startsWith(folder))).not.toEqual([]);
  const packages = new Set(
    files.flatMap((path) => /\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(path)?.[1] ?? []),
  );
  expect(packages).toContain('pg');
  const foreign = ['fastify', '@fastify/swagger', 'zod', 'marked', 'tar', 'yauzl', 'undici'];
  expect(foreign.filter((name) => packages.has(name))).toEqual([]);
  // 267; it was more than a thousand with the API.
  expect(files.length).toBeLessThan(300);
});

test('a server loads no OpenID client before it needs one', () => {
  const part = './src/app/identity/local-sign-in.ts';
  const files = loadedBy('--input-type=module', '--eval', `import '${part}'`);
  expect(files.filter((path) => path.endsWith('/src/identity/provider.ts'))).toHaveLength(1);
  expect(files.filter((path) => path.includes('/node_modules/'))).toEqual([]);
});

test.each([
  ['longshore', exported, index],
  ['longshore/client', exportedClient, client],
  ['longshore/testing', exportedTesting, testing],
  ['longshore/batteries', exportedBatteries, batteries],
])('a checkout exports all of %s', (_, built, source) => {
  expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
  expect(Object.values(built)).not.toContain(undefined);
});

test('the first runner compiles the definitions, and the others load what it compiled', async () => {
  const first = await startRunner(null);
  expect(first.files.filter((path) => path.endsWith('.ts'))).toEqual([DEFINITION]);
  const [url] = Object.keys(first.compiled);
  expect(fileURLToPath(url ?? '')).toBe(DEFINITION);
  const next = await startRunner(first.compiled);
  expect(next.compiled).toEqual({});
  expect(next.files.filter(heavy)).toEqual([]);
  expect(next.files.length).toBeLessThan(5);
  // An empty Node process has 45 MB.
  if (next.rssMb !== null) expect(next.rssMb).toBeLessThan(75);
});

test('a definition that changed since is compiled again', async () => {
  const { compiled } = await startRunner(null);
  const outdated = Object.entries(compiled).map(([url, file]) => [url, { ...file, state: 'old' }]);
  const { files } = await startRunner(Object.fromEntries(outdated) as CodeFiles);
  expect(files).toContain(DEFINITION);
});

async function startRunner(files: CodeFiles | null) {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-runner-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const args = ['--import', HOOK, programFile('worker/runner/main'), DEFINITION, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const socket = child.stdio[3] as Socket;
  socket.write(messageLine({ type: 'load', files, modules: builtModules() }));
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string];
  const ready = JSON.parse(line) as Extract<FromRunner, { type: 'ready' }>;
  expect(ready).toMatchObject({ type: 'ready', problems: [] });
  const rssMb = rssOf(child.pid);
  child.kill('SIGKILL');
  await once(child, 'close');
  return { compiled: ready.files ?? {}, files: filesIn(stderr), rssMb };
}

/** Null where there is no /proc. */
function rssOf(pid = 0): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
  } catch {
    return null;
  }
}
