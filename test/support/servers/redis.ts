import { createClient } from 'redis';
import { EXTRAS, isInstalled } from '../checks/extras.ts';
import { SideServer } from './side-server.ts';

export const hasRedis = isInstalled('redis-server');

export interface TestRedis {
  server: SideServer;
  url: string;
  /** One command as redis-cli would send it. */
  command(...words: string[]): Promise<unknown>;
}

/** A Redis that keeps nothing over a restart. */
export async function startRedis(): Promise<TestRedis> {
  const server = await SideServer.create(EXTRAS['redis-server'], (folder, port) => {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
    return { args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]) };
  });
  await server.start();
  const url = `redis://127.0.0.1:${server.port}`;
  return {
    server,
    url,
    command: async (...words) => {
      const client = createClient({ url, socket: { reconnectStrategy: false } });
      client.on('error', () => undefined);
      await client.connect();
      try {
        return await client.sendCommand(words);
      } finally {
        client.destroy();
      }
    },
  };
}
