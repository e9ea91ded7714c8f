import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Client } from 'pg';
import { defineJob, enqueueIn } from '../../../src/index.ts';
import {
  assertEnqueued,
  createTestRig,
  enqueuedOf,
  type TestRig,
} from '../../../src/testing/index.ts';
import { FIXTURES } from '../../support/processes.ts';
import { EmbeddedFixture } from '../../support/servers/embedded-fixture.ts';
import { until } from '../../support/until.ts';

const seen: unknown[] = [];
const hooked: unknown[] = [];

const welcome = defineJob({
  key: 'welcome',
  run: ({ user }: { user: string; from?: string }) => void seen.push(user),
});
const flaky = defineJob({
  key: 'flaky',
  memoryMb: 64,
  retry: { baseMs: 3_600_000, jitter: 0 },
  run: (_params: unknown, { attempt }) => {
    if (attempt === 1) throw new Error('once');
    return attempt;
  },
  onEnd: ({ status }) => void hooked.push(status),
});
const sleeping = defineJob({
  key: 'sleeping',
  run: async (_params: unknown, ctx) => {
    await ctx.sleep('2 days');
    return ctx.attempt;
  },
});
const nightly = defineJob({
  key: 'nightly',
  schedule: { cron: '0 3 * * *' },
  run: () => void seen.push('night'),
});

describe('a rig with code at hand', () => {
  let rig: TestRig;
  beforeAll(async () => {
    rig = await createTestRig({
      jobs: [welcome, flaky, sleeping, nightly],
      databaseUrl: inject('clusterUrl'),
    });
  });
  afterAll(async () => await rig.stop());

  it('lists what was enqueued during a block, and only that', async () => {
    await rig.enqueue(welcome, { user: 'before' });
    const made = await rig.during(async () => {
      await rig.enqueue(welcome, { user: 'ada', from: 'web' });
      await rig.enqueue('other', 1);
    });
    expect(made.map(({ definitionKey }) => definitionKey)).toEqual(['welcome', 'other']);
    expect(enqueuedOf(made, welcome).map(({ params }) => params.user)).toEqual(['ada']);
    assertEnqueued(made, welcome, { user: 'ada' });
    assertEnqueued(made, 'other');
    expect(() => assertEnqueued(made, welcome, { user: 'before' })).toThrow(
      'welcome with {"user":"before"} was not enqueued. What was:\n  welcome {"user":"ada"',
    );
  });

  it('runs nothing by itself, and what is due in its order', async () => {
    expect(seen).toEqual([]);
    await rig.enqueue(welcome, { user: 'first' }, { priority: 1 });
    expect(await rig.drain()).toMatchObject({ succeeded: 3, remaining: 0 });
    expect(seen.splice(0)).toEqual(['first', 'before', 'ada']);
  });

  it('retries, delays and fires schedules when its clock says so', async () => {
    const failing = await rig.enqueue(flaky, {});
    const later = await rig.enqueue(welcome, { user: 'later' }, { delayMs: 86_400_000 });
    expect(await rig.drain()).toMatchObject({ claimed: 1, retried: 1 });
    expect(await rig.drain()).toMatchObject({ claimed: 0 });
    await rig.advance(3_600_001);
    await rig.drain();
    expect(await failing.get()).toMatchObject({ status: 'succeeded', attempts: 2, result: 2 });
    expect(hooked).toEqual(['succeeded']);
    expect((await later.get()).status).toBe('scheduled');
    const before = await rig.now();
    expect(await rig.advance(86_400_000)).toBeInstanceOf(Date);
    await rig.drain();
    expect((await later.get()).status).toBe('succeeded');
    expect(new Set(seen.splice(0))).toEqual(new Set(['later', 'night']));
    expect(Date.parse((await later.get()).finishedAt ?? '')).toBeGreaterThan(before.getTime());
  });

  it('runs a job after its parents, which are handles or ids', async () => {
    const [jobA, jobB] = [
      await rig.enqueue(sleeping, {}),
      await rig.enqueue(welcome, { user: 'b' }),
    ];
    const last = await rig.enqueue(welcome, { user: 'last' }, { after: [jobA, jobB] });
    const [many] = await rig.enqueueMany([
      { definition: welcome, params: { user: 'many' }, options: { after: [jobA, last.id] } },
    ]);
    await rig.drain();
    expect((await last.get()).status).toBe('suspended');
    await rig.advance(2 * 86_400_000);
    await rig.drain();
    expect(await last.get()).toMatchObject({ status: 'succeeded' });
    expect(await many.get()).toMatchObject({ status: 'succeeded' });
    seen.length = 0;
  });

  it('ends sleeps when its clock says so', async () => {
    const job = await rig.enqueue(sleeping, {});
    await rig.drain();
    await rig.advance(86_400_000);
    await rig.drain();
    expect((await job.get()).status).toBe('scheduled');
    await rig.advance(86_400_000);
    await rig.drain();
    expect(await job.get()).toMatchObject({ status: 'succeeded', result: 1 });
  });

  it('sees what was enqueued in a transaction of its own, at the same time of day', async () => {
    await rig.drain();
    const client = new Client({ connectionString: rig.databaseUrl });
    await client.connect();
    const made = await rig.during(async () => {
      await client.query('begin');
      await enqueueIn(client, welcome, { user: 'eve' }, { delayMs: 60_000 });
      await client.query('commit');
    });
    await client.end();
    assertEnqueued(made, welcome, { user: 'eve' });
    await rig.drain();
    expect(seen).not.toContain('eve');
    await rig.advance(60_000);
    await rig.drain();
    expect(seen).toContain('eve');
  });
});

it('a rig takes the URL of a socket, which has no host before its query', async () => {
  const fixture = await EmbeddedFixture.createQuick();
  onTestFinished(async () => await fixture.remove());
  const server = fixture.server({ unsafeForTests: true });
  await server.start();
  const { username, password, port, searchParams } = new URL(server.url);
  const query = `host=${searchParams.get('host')}&port=${port}`;
  // As docs/operate/embedded-postgres.md writes it.
  const databaseUrl = `postgres://${username}:${password}@/longshore?${query}`;
  const rig = await createTestRig({ jobs: [welcome], databaseUrl });
  await rig.enqueue(welcome, { user: 'socket' });
  expect(await rig.drain()).toMatchObject({ succeeded: 1 });
  expect(seen).toContain('socket');
  await rig.stop();
});

describe('a rig with files', () => {
  let rig: TestRig;
  beforeAll(async () => {
    rig = await createTestRig({
      jobs: join(FIXTURES, 'faulty'),
      databaseUrl: inject('clusterUrl'),
      concurrency: 3,
    });
  });
  afterAll(async () => await rig.stop());

  it('lets processes crash and hang for real', async () => {
    const [crashing, hanging] = await rig.enqueueMany([
      { definition: 'crashing' },
      { definition: 'hanging' },
    ]);
    expect(await rig.drain()).toMatchObject({ claimed: 2, retried: 2 });
    expect(await crashing.get()).toMatchObject({ error: { code: 'CRASHED' } });
    expect(await hanging.get()).toMatchObject({ error: { code: 'TIMEOUT' } });
    await rig.advance(60_001);
    expect(await rig.drain()).toMatchObject({ succeeded: 2 });
    // The step before the crash was stored, and did not run again.
    expect(await crashing.get()).toMatchObject({ attempts: 2, result: [1, 2] });
    expect(await hanging.get()).toMatchObject({ attempts: 2, result: [2, 2] });
    expect((await crashing.attempts())[0]).toMatchObject({ signal: 'SIGKILL' });
  });

  it('takes a running job away from its worker', async () => {
    const patient = await rig.enqueue('patient');
    const drained = rig.drain();
    await until('it runs', async () => (await patient.get()).status === 'running');
    await rig.loseLease(patient.id);
    expect(await drained).toMatchObject({ succeeded: 1, remaining: 0 });
    expect(await patient.get()).toMatchObject({ status: 'succeeded', result: 'second' });
    expect((await patient.attempts())[0]).toMatchObject({ error: { code: 'LEASE_EXPIRED' } });
    await expect(rig.loseLease(patient.id)).rejects.toThrow('only a running job');
  });
});
