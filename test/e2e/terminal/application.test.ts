import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { descendants, isAlive } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { until } from '../../support/until.ts';

/** Signals for an application that has Longshore with its own PostgreSQL inside. */

const LONGSHORE = fileURLToPath(new URL('../../../bin/exports/index.js', import.meta.url));
const PROGRAM = `
import { createLongshore, defineJob } from ${JSON.stringify(LONGSHORE)};
const tidy = defineJob({ key: 'tidy', isolation: 'inline', run: () => ({ removed: 3 }) });
const longshore = await createLongshore({ data: process.argv[2], jobs: [tidy] });
if (process.argv[3] === 'listens') {
  process.on('SIGTERM', () => {
    console.log('its own listener');
    void longshore.stop().then(() => process.exit(7));
  });
}
console.log(await (await longshore.enqueue(tidy, {})).result());
`;

let folder: string;
let application: ChildProcess | undefined;

afterEach(async () => {
  application?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function startOne(...more: string[]) {
  folder = await quickFolder('longshore-application-');
  const file = join(folder, 'app.mjs');
  await writeFile(file, PROGRAM);
  const child = spawn(process.execPath, [file, join(folder, 'data'), ...more], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  application = child;
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  await until('its job has ended', () => said.includes('removed: 3'));
  const all = descendants(child.pid ?? 0).map(({ pid }) => pid);
  expect(all.length).toBeGreaterThan(2);
  return { child, ended, all, said: () => said };
}

it.each([
  ['Ctrl-C', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
] as const)('%s stops PostgreSQL, and ends the application as ever', async (_, signal) => {
  const { child, ended, all } = await startOne();
  process.kill(-(child.pid ?? 0), signal);
  expect(await ended).toEqual([null, signal]);
  expect(all.filter(isAlive)).toEqual([]);
});

it('an application with a listener decides itself', async () => {
  const { child, ended, all, said } = await startOne('listens');
  child.kill('SIGTERM');
  expect(await ended).toEqual([7, null]);
  expect(said()).toContain('its own listener');
  expect(all.filter(isAlive)).toEqual([]);
});
