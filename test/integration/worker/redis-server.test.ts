import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { jobInState, post, startJob } from '../../support/api.ts';
import { testDatabase } from '../../support/servers/database.ts';
import { endAll, FIXTURES, launch } from '../../support/processes.ts';
import { hasRedis, startRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

afterEach(async () => await endAll());

describe.skipIf(!hasRedis)('LONGSHORE_REDIS_URL (needs redis-server)', () => {
  it('makes a worker beat as documented, and its lease long', async () => {
    const redis = await startRedis();
    const database = await testDatabase();
    onTestFinished(async () => {
      await endAll();
      await redis.server.remove();
      await database.close();
    });
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_REDIS_URL: redis.url,
      LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
      LONGSHORE_HEARTBEAT_MS: '300',
    };
    const { address } = (await launch('api', { env })).summary;
    const client = new Longshore({ url: address });
    await launch('worker', { env });
    const id = await startJob(address, 'wait-for-abort');
    const { workerId } = await jobInState(address, id, 'running');
    const key = `job:${id}:heartbeat`;
    await until('it beats', async () => (await redis.command('GET', key)) === workerId);
    const leftMs = Number(await redis.command('PTTL', key));
    expect(leftMs).toBeGreaterThan(15_000);
    expect(leftMs).toBeLessThanOrEqual(30_000);
    await until('its lease is long', async () => {
      const [worker] = await client.workers();
      const { heartbeatAt = '', leaseExpiresAt = '' } = worker ?? {};
      return Math.round((Date.parse(leaseExpiresAt) - Date.parse(heartbeatAt)) / 1_000) === 120;
    });
    await post(`${address}/v1/jobs/${id}/cancel`, {});
    await jobInState(address, id, 'cancelled');
  });
});
