import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../../test/support/cli.ts';
import { json, playAnswers } from '../../../test/support/servers/playing-server.ts';
import { findAddress, leaveAddress } from './server-address.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-address-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('is found until the server ends', () => {
  const folder = newFolder();
  expect(findAddress(folder)).toBeNull();
  const first = leaveAddress(folder, 'http://127.0.0.1:4401');
  expect(findAddress(folder)).toBe('http://127.0.0.1:4401');
  const second = leaveAddress(folder, 'http://127.0.0.1:4402');
  first();
  expect(findAddress(folder)).toBe('http://127.0.0.1:4402');
  second();
  expect(findAddress(folder)).toBeNull();
  expect(leaveAddress(join(folder, 'missing'), 'http://127.0.0.1:1')()).toBeUndefined();
});

it.each([
  'http://evil.example:80',
  'https://127.0.0.1:4400',
  'http://127.0.0.1:4400@evil.example',
  '',
])('does not believe %j', (text) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'address'), text);
  expect(findAddress(folder)).toBeNull();
});

it('a command refuses the default address while the server of its folder is down', async () => {
  const folder = newFolder();
  const env = { LONGSHORE_DATA: folder };
  mkdirSync(join(folder, 'pg'));
  for (const args of [['list'], ['pause', '--all'], ['stats']]) {
    const { code, stdout, stderr } = await run(args, { env });
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain(`the server of this folder is not running (its data is in ${folder})`);
    expect(stderr).toContain('--url or LONGSHORE_URL');
  }
});

it('a named server, and the one that is up, are asked', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'pg'));
  const env = { LONGSHORE_DATA: folder };
  const answer = json(200, { jobs: [], nextCursor: null });
  const { url, seen } = await playAnswers(answer, answer, answer);
  expect(await run(['list', '--url', url], { env })).toMatchObject({ code: 0 });
  expect(await run(['list'], { env: { ...env, LONGSHORE_URL: url } })).toMatchObject({ code: 0 });
  leaveAddress(folder, url);
  expect(await run(['list'], { env })).toMatchObject({ code: 0 });
  expect(seen).toHaveLength(3);
});
