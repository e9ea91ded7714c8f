import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../app/app.ts';
import { leaveAddress } from '../../config/left-address.ts';
import { loadConfig } from '../../config/load.ts';
import { silentLog } from '../../runtime/log.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-port-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Something that answers every request with this; returns its port. */
async function listening(answer: unknown): Promise<number> {
  const server = createServer((_request, response) => void response.end(JSON.stringify(answer)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Why `longshore start` refuses, before it creates anything. */
async function refusalOf(data: string, port: number): Promise<string> {
  const env = { LONGSHORE_DATA: data, LONGSHORE_PORT: String(port) };
  const { config } = loadConfig({ flags: {}, reader: 'server', env, directory: data });
  const before = readdirSync(data);
  const error = await startApp(config, 'start', silentLog).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartRefusal);
  expect(readdirSync(data)).toEqual(before);
  return (error as StartRefusal).message;
}

const LONGSHORE = { status: 'ok', version: '0.1.0' };

it('is refused before a cluster is created, and says who has it', async () => {
  const port = await listening(LONGSHORE);
  const advice = `uses port ${port} on 127.0.0.1; stop it, or choose another port: --port ${port + 1}`;
  expect(await refusalOf(newFolder(), port)).toBe(`another Longshore (0.1.0) ${advice}`);
  const other = await listening({ hello: 'world' });
  expect(await refusalOf(newFolder(), other)).toContain(`another program uses port ${other}`);
});

it('is that of the server of this folder', async () => {
  const port = await listening(LONGSHORE);
  const folder = newFolder();
  const url = `http://127.0.0.1:${port}`;
  leaveAddress(folder, url);
  expect(await refusalOf(folder, port)).toBe(
    `the server of this folder runs already: ${url} (its data is in ${folder})`,
  );
});
