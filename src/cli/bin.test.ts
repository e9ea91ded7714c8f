import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));

/** Runs the program on this Node, or lets it believe that it runs on an older one. */
function run(args: string[], pretend?: string) {
  const versions = `{ value: { ...process.versions, node: '${pretend}' } }`;
  const script = `Object.defineProperty(process, 'versions', ${versions})`;
  const before = pretend ? ['--import', `data:text/javascript,${script}`] : [];
  return spawnSync(process.execPath, [...before, bin, ...args], { encoding: 'utf8' });
}

test.each(['20.20.2', '22.17.1', '0.12.18'])('Node %s gets one clear line', (version) => {
  const { status, stdout, stderr } = run(['start'], version);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    `Longshore needs Node 22.18 or newer; this is Node ${version}. ` +
      `In a checkout: npx node ${bin}, or npm start\n`,
  );
});

test.each([undefined, '22.18.0', '25.0.0'])('Node %s runs the program', (version) => {
  const { status, stdout } = run(['--version'], version);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
});

test('the exit code reaches the shell', () => {
  expect(run(['strat']).status).toBe(2);
});
