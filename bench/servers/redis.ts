import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { children } from '../harness/children.ts';
import { sleep } from '../harness/clock.ts';
import { freePort } from './free-port.ts';
import { cpuSecondsOf } from './processes.ts';
import type { Store } from './store.ts';

const READY_MS = 10_000;

/** A Redis of its own for one measurement, with every write in its append-only file. */
export async function startRedis(
  folder: string,
  appendfsync: 'everysec' | 'always',
  lists: readonly string[],
): Promise<Store> {
  const dir = await mkdtemp(join(folder, 'redis-'));
  const port = await freePort();
  const settings = { port, dir, bind: '127.0.0.1', appendonly: 'yes', appendfsync, save: '' };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const child = spawn('redis-server', flags, { stdio: 'ignore', detached: true });
  children.add(child);
  const failed = new Promise<never>((_, reject) => {
    child.once('error', () => reject(new Error('redis-server is missing: apt-get install redis')));
    child.once('exit', (code) => reject(new Error(`redis-server ended with code ${code}`)));
  });
  failed.catch(() => {});
  const client = new Redis({ port, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  const tooLate = async () => {
    await sleep(READY_MS);
    throw new Error('redis-server did not get ready');
  };
  const close = async () => {
    client.disconnect();
    await children.end(child);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await Promise.race([client.ping(), failed, tooLate()]);
  } catch (error) {
    await close();
    throw error;
  }
  const unfinished = async () => {
    const lengths = await Promise.all(lists.map(async (list) => await client.llen(list)));
    return lengths.reduce((sum, length) => sum + length, 0);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    unfinished,
    isDrained: async () => (await unfinished()) === 0,
    cpuSeconds: () => (child.pid === undefined ? 0 : cpuSecondsOf(child.pid)),
    [Symbol.asyncDispose]: close,
  };
}
