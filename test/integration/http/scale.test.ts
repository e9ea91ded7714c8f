import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/core/access/scope.ts';
import type { ScaleView } from '../../../src/core/views/scale.ts';
import { forgetCounters, rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { pause } from '../../../src/store/limits/pauses.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';

describe('GET /v1/scale', () => {
  let database: TestDatabase;
  let app: FastifyInstance;

  beforeAll(async () => {
    database = await testDatabase();
    app = serverOn(database);
  });
  afterAll(async () => {
    await app.close();
    await database.close();
  });

  const scale = async (key: string | null, query = ''): Promise<ScaleView> => {
    await rollUpAll(database.db);
    const { status, body } = await callAs(app, key, 'GET', `/v1/scale${query}`);
    expect(status).toBe(200);
    return body as unknown as ScaleView;
  };

  it('wants slots for what waits, and shows what is present', async () => {
    await newWorker(database);
    for (let n = 0; n < 30; n += 1) await enqueueOne(database, { definitionKey: 'many' });
    await enqueueOne(database, { definitionKey: 'one' });
    await enqueueOne(database, { definitionKey: 'one', delayMs: 3_600_000 });
    const { definitions, ...total } = await scale(null, '?targetSeconds=10');
    expect(definitions.map(({ key, waiting, running }) => [key, waiting, running])).toEqual([
      ['many', 30, 0],
      ['one', 1, 0],
    ]);
    expect(definitions[0]).toMatchObject({ runMs: null, oldestAgeMs: expect.any(Number) });
    expect(definitions[0]?.wantedSlots).toBeGreaterThanOrEqual(3);
    expect(total).toMatchObject({ waiting: 31, running: 0, targetSeconds: 10, allTenants: true });
    expect(total.slots).toBeGreaterThan(0);
    expect(total.arrivalsPerSecond * total.windowSeconds).toBeCloseTo(31, -1);
  });

  it('measures how long attempts take, and counts what runs', async () => {
    const worker = await newWorker(database);
    const [first, second] = await claimAny(database, worker, 2);
    if (!first || !second) throw new Error('not claimed');
    await settleAs(database, first, SUCCESS);
    const { definitions, running } = await scale(null);
    expect(running).toBe(1);
    expect(definitions.some(({ runMs }) => runMs !== null)).toBe(true);
  });

  it('counts an arrival once, also when its worker returns the job', async () => {
    const arrived = async () => {
      const { arrivalsPerSecond, windowSeconds } = await scale(null);
      return Math.round(arrivalsPerSecond * windowSeconds);
    };
    const before = await arrived();
    const [job] = await claimAny(database, await newWorker(database), 1);
    if (!job) throw new Error('not claimed');
    await settleAs(database, job, { kind: 'unstarted' });
    // The window ends at another second each time.
    expect(Math.abs((await arrived()) - before)).toBeLessThanOrEqual(1);
  });

  it('wants no slot for what is paused', async () => {
    await pause(database.db, { scope: 'definition', name: 'many' }, null, null);
    const { definitions } = await scale(null);
    const many = definitions.find(({ key }) => key === 'many');
    expect(many?.waiting).toBeGreaterThan(0);
    expect(many?.wantedSlots).toBe(many?.running);
  });

  it('is about the tenant of the caller; an operator of the default tenant sees all', async () => {
    await newTenant(database, 'acme');
    await enqueueOne(database, { tenant: 'acme', definitionKey: 'theirs' });
    const keysSeen = async (tenant: string, ...scopes: Scope[]) => {
      const { key } = await newKey(database, tenant, ...scopes);
      const { allTenants, definitions } = await scale(key);
      return { allTenants, theirs: definitions.some((one) => one.key === 'theirs') };
    };
    expect(await keysSeen('acme', 'jobs:read')).toEqual({ allTenants: false, theirs: true });
    expect(await keysSeen('acme', 'admin')).toEqual({ allTenants: false, theirs: true });
    expect(await keysSeen('default', 'jobs:read')).toEqual({ allTenants: false, theirs: false });
    expect(await keysSeen('default', 'jobs:read', 'operate')).toEqual({
      allTenants: true,
      theirs: true,
    });
    const { key } = await newKey(database, 'acme', 'jobs:read');
    expect((await callAs(app, key, 'GET', '/v1/scale?targetSeconds=0')).status).toBe(400);
    expect((await callAs(app, key, 'GET', '/v1/scale?target=60')).status).toBe(400);
  });

  it('forgets arrivals after an hour', async () => {
    await rollUpAll(database.db);
    const arrivals = async () =>
      (
        await database.sql(
          `select from longshore.counter_span where state = 'queued' and bucket = -1`,
        )
      ).length;
    await forgetCounters(database.db, 0);
    expect(await arrivals()).toBeGreaterThan(0);
    await database.sql(
      `update longshore.counter_span set slot = slot - interval '2 hours' where state = 'queued'`,
    );
    await forgetCounters(database.db, 0);
    expect(await arrivals()).toBe(0);
  });
});
