import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));

/** The arguments that run the program on this Node, or let it believe that it runs on an older one. */
function argsOf(args: string[], pretend?: string, program = bin): string[] {
  const versions = `{ value: { ...process.versions, node: '${pretend}' } }`;
  const script = `Object.defineProperty(process, 'versions', ${versions})`;
  const before = pretend ? ['--import', `data:text/javascript,${script}`] : [];
  return [...before, program, ...args];
}

function run(args: string[], pretend?: string, program = bin) {
  return spawnSync(process.execPath, argsOf(args, pretend, program), { encoding: 'utf8' });
}

/** A project that has the package `node`, with this shell script as its program. */
function projectWithNode(version: string, script: string): string {
  const project = mkdtempSync(join(tmpdir(), 'longshore-bin-'));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'node/bin'), { recursive: true });
  mkdirSync(join(modules, '.bin'));
  writeFileSync(join(modules, 'node/package.json'), JSON.stringify({ version }));
  writeFileSync(join(modules, 'node/bin/node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  symlinkSync(bin, join(modules, '.bin/longshore'));
  return join(modules, '.bin/longshore');
}

function refusal(version: string): string {
  return (
    `Longshore needs Node 22.18 or newer; this is Node ${version}. Install a newer Node, or add ` +
    'one to your project: npm install node@24 (then run: npx longshore)\n'
  );
}

// The package `node` of this checkout is the Node that runs this test, so there is no newer one.
test.each(['20.20.2', '22.17.1', '0.12.18'])('Node %s gets one clear line', (version) => {
  const { status, stdout, stderr } = run(['start'], version);
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: refusal(version) });
});

test.each([undefined, '22.18.0', '25.0.0'])('Node %s runs the program', (version) => {
  const { status, stdout } = run(['--version'], version);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
});

test('the exit code reaches the shell', () => {
  expect(run(['strat']).status).toBe(2);
});

test('an old Node runs the program with the newer Node of the project', () => {
  const link = projectWithNode('24.21.0', `exec ${process.execPath} "$@"`);
  const { status, stderr } = run(['strat'], '20.20.2', link);
  const error = "error: unknown command 'strat': did you mean start?\n";
  expect({ status, stderr }).toEqual({ status: 2, stderr: error });
});

test('a Node of the project that is too old itself is no help', () => {
  const link = projectWithNode('20.1.0', 'echo never; exit 9');
  const { status, stdout, stderr } = run(['start'], '20.20.2', link);
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: refusal('20.20.2') });
});

test('signals reach the newer Node, and its end is the end', async () => {
  const script = `trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done`;
  const link = projectWithNode('24.21.0', script);
  const child = spawn(process.execPath, argsOf(['start'], '20.20.2', link));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([9, null]);
  const killed = projectWithNode('24.21.0', 'kill -KILL $$');
  expect(run(['start'], '20.20.2', killed)).toMatchObject({ status: null, signal: 'SIGKILL' });
});
