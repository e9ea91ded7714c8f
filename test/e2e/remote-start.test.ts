import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Player } from '../../src/conformance/worker/player.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { begin, endAll, FIXTURES } from '../support/processes.ts';
import { until } from '../support/until.ts';

afterEach(endAll);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

it('a worker waits for its server, and says so once', async () => {
  const port = await freePort();
  const worker = begin('worker', {
    env: {
      LONGSHORE_URL: `http://127.0.0.1:${port}`,
      LONGSHORE_API_KEY: 'lsk_key',
      LONGSHORE_JOBS: join(FIXTURES, 'conformance'),
      LONGSHORE_LOG_LEVEL: 'debug',
    },
  });
  const said = (words: string) => worker.stderr().split(words).length - 1;
  // The second failure is logged for `debug` only.
  await until('it has failed twice', () => said('the registration at') >= 2);
  const player = new Player({ port, key: 'lsk_key', leaseMs: 30_000, clock: systemClock });
  await player.start();
  await until('it is up', () => worker.summary());
  expect([said('runners are ready'), said('"msg":"registered"')]).toEqual([1, 1]);
  expect(worker.stderr().match(/"level":40[^\n]*the registration at/g)).toHaveLength(1);
  worker.signal('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  await player.stop();
});
