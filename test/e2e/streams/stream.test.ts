import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { startQuickWorker } from '../../support/servers/quick-worker.ts';

/** A worker is killed in the middle of a stream, and the connection of its reader breaks again and again. */

const database = sharedDatabase();
const JOBS = fileURLToPath(new URL('../../support/fixtures/streaming', import.meta.url));

async function serve(): Promise<string> {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer(deps);
  await server.start();
  onTestFinished(async () => await server.stop());
  return server.address;
}

/** Passes on what it gets, and can cut all its connections. */
async function fragile(target: string): Promise<{ url: string; cut(): void }> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const proxy: Server = createServer((socket) => {
    const other = connect(Number(port), hostname);
    for (const [one, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(one);
      one.pipe(peer);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        peer.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const cut = () => open.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cut };
}

const counted = (to: number) => Array.from({ length: to }, (_, number) => `${number} `).join('');

it('a reader gets every attempt without gaps and repetitions', async () => {
  const address = await serve();
  const { url, cut } = await fragile(address);
  const start = async () => {
    const worker = await startQuickWorker({ databaseUrl: database.url, jobs: JOBS });
    onTestFinished(async () => await worker.stop());
    return worker;
  };
  const doomed = await start();
  const client = new Longshore({ url });
  const handle = await client.enqueue('count', { to: 400 });
  const texts = [''];
  let chunks = 0;
  let killed = false;
  for await (const { text, startsOver } of handle.stream()) {
    if (startsOver) texts.push('');
    texts.push((texts.pop() ?? '') + text);
    chunks += 1;
    if (chunks % 3 === 0) cut();
    if (!killed && chunks === 5) {
      killed = true;
      doomed.signal('SIGKILL');
      await start();
    }
  }
  const last = texts.pop();
  expect(last).toBe(counted(400));
  expect(texts).toHaveLength(1);
  expect(texts[0]).not.toBe('');
  expect(counted(400).startsWith(texts[0] ?? '-')).toBe(true);
  expect(chunks).toBeGreaterThan(10);
  expect((await handle.wait()).status).toBe('succeeded');
});
