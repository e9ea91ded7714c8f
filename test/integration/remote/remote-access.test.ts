import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { DeliveredJob, TurnReply } from '../../../src/protocol/worker-protocol.ts';
import { createKey, revokeKey } from '../../../src/store/access/keys.ts';
import { createTenant } from '../../../src/store/access/tenants.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { apiOn } from '../../support/servers/remote.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { publish } from '../../support/limits.ts';
import { until } from '../../support/until.ts';

const RING = `a:${Buffer.alloc(32, 7).toString('base64')}`;
const BY = { name: 'test', address: null };

const database = databasePerTest({ encryptionKeys: RING });
let url: string;

beforeEach(async () => {
  for (const tenant of ['acme', 'rival']) await createTenant(database.db, BY, tenant);
  const api = await apiOn(database);
  onTestFinished(async () => await api.close());
  url = api.url;
});

/** A worker by hand: a key, an id, and calls. */
class HandWorker {
  readonly id = randomUUID();
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  static async of(tenant: string, definitions: string[] | null = null): Promise<HandWorker> {
    const wanted = { tenant, name: 'w', scopes: ['worker'] as const, definitions, expiresAt: null };
    return new HandWorker((await createKey(database.db, BY, wanted)).key);
  }

  async call(method: string, path: string, body?: object, id = this.id) {
    const answer = await fetch(`${url}/v1/workers/${id}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: (text ? JSON.parse(text) : {}) as Record<string, unknown>,
    };
  }

  async packed(path: string, body: Buffer<ArrayBuffer>): Promise<number> {
    const answer = await fetch(`${url}/v1/workers/${this.id}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  async register(...keys: string[]): Promise<number> {
    const definitions = keys.map((key) => ({ key }));
    return (await this.call('PUT', '', { host: 'edge', definitions })).status;
  }

  async turn(body: object): Promise<TurnReply> {
    const { status, body: reply } = await this.call('POST', '/turn', body);
    expect(status).toBe(200);
    return reply as TurnReply;
  }

  /** Waits for one job. */
  async take(): Promise<DeliveredJob> {
    return await until('a job has come', async () => {
      return (await this.turn({ room: 1, waitMs: 1_000 })).jobs[0];
    });
  }
}

const success = ({ id, claim }: { id: string; claim: number }, resultJson = '1') => ({
  outcomes: [{ id, claim, outcome: { kind: 'success', resultJson } }],
});

const statusOf = async (tenant: string, id: string) =>
  (await getJob(database.db, tenant, id))?.status;

/** Connections that listen for hints. */
const listening = async () =>
  (
    await database.sql(
      `select 1 from pg_stat_activity
       where application_name = 'longshore listen' and datname = current_database()`,
    )
  ).length;

it('a server without remote workers listens for nothing', async () => {
  expect(await listening()).toBe(0);
  const worker = await HandWorker.of('acme');
  await worker.register('mail.send');
  expect(await listening()).toBe(0);
  await worker.turn({ room: 1 });
  await until('it listens', async () => (await listening()) === 1);
});

describe('a key with the scope worker', () => {
  it('serves the definitions that its patterns name, of its own tenant, and no others', async () => {
    const worker = await HandWorker.of('acme', ['mail.*']);
    expect(await worker.register('report.build')).toBe(403);
    expect(await worker.register('mail.send')).toBe(200);
    await enqueueOne(database, { tenant: 'rival', definitionKey: 'mail.send' });
    await enqueueOne(database, { tenant: 'default', definitionKey: 'mail.send' });
    await enqueueOne(database, { tenant: 'acme', definitionKey: 'report.build' });
    const own = await enqueueOne(database, {
      tenant: 'acme',
      definitionKey: 'mail.send',
      paramsJson: '{"to":"x"}',
    });
    const job = await worker.take();
    expect(job).toMatchObject({ id: own, paramsJson: '{"to":"x"}', attempt: 1, claim: 1 });
    expect((await worker.turn({ room: 5, waitMs: 300 })).jobs).toEqual([]);
    const { settled } = await worker.turn(success(job, '{"secret":1}'));
    expect(settled).toEqual([{ id: own, claim: 1, next: 'succeeded' }]);
    const [row] = await database.sql<{ result: unknown }>(
      'select result from longshore.done where id = $1',
      [own],
    );
    expect(JSON.stringify(row)).not.toContain('secret');
    expect(await getJob(database.db, 'acme', own)).toMatchObject({ result: { secret: 1 } });
  });

  it('is needed for patterns, which limit nothing else', async () => {
    const { key } = await createKey(database.db, BY, {
      tenant: 'acme',
      name: 'admin',
      scopes: ['admin'],
      expiresAt: null,
    });
    const make = async (scopes: string[], definitions: string[]) =>
      await fetch(`${url}/v1/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'k', scopes, definitions }),
      });
    const refused = await make(['jobs:read'], ['mail.*']);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('needs the scope worker'),
    ]);
    expect((await make(['worker'], ['mail *'])).status).toBe(400);
    expect((await make(['worker'], ['mail.*'])).status).toBe(201);
  });

  it('opens nothing else', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const key = await createKey(database.db, BY, {
      tenant: 'acme',
      name: 'reader',
      scopes: ['jobs:read'],
      expiresAt: null,
    });
    expect(await new HandWorker(key.key).register('mail.send')).toBe(403);
    const answer = await worker.call('POST', '/drain');
    expect(answer.status).toBe(403);
  });

  it('is refused everywhere once it is revoked', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const [key] = await database.sql<{ id: string }>('select id from longshore.api_key');
    await revokeKey(database.db, BY, 'acme', key?.id ?? '');
    await until(
      'it is refused',
      async () => (await worker.call('POST', '/beat', {})).status === 401,
    );
  });
});

describe('the worker of another tenant', () => {
  it('is answered as if it did not exist, by each of the calls', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const rival = await HandWorker.of('rival');
    const body = { host: 'edge', definitions: [{ key: 'mail.send' }] };
    const calls = [
      ['POST', '/turn', { room: 1 }],
      ['POST', '/beat', {}],
      ['POST', '/say', {}],
      ['GET', '/deployments', undefined],
      ['GET', `/artifacts/${'0'.repeat(64)}`, undefined],
      ['DELETE', '', undefined],
    ] as const;
    for (const [method, path, sent] of calls) {
      const foreign = await rival.call(method, path, sent, worker.id);
      const missing = await rival.call(method, path, sent, randomUUID());
      expect([path, foreign.status, foreign.body]).toEqual([path, 410, missing.body]);
    }
    expect((await rival.call('PUT', '', body, worker.id)).status).toBe(410);
    expect((await worker.call('POST', '/beat', {})).status).toBe(200);
  });

  it('cannot settle, log, report or store steps for a claim that it does not hold', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const id = await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail.send' });
    const job = await worker.take();
    const own = await HandWorker.of('acme');
    const rival = await HandWorker.of('rival');
    for (const other of [rival, own]) {
      await other.register('mail.send');
      const { settled } = await other.turn(success(job));
      expect(settled).toEqual([{ id, claim: 1, next: null }]);
      const about = { id, claim: 1 };
      const said = await other.call('POST', '/say', {
        logs: [{ ...about, n: 0, lines: [{ level: 'info', message: 'forged', ageMs: 0 }] }],
        events: [{ ...about, n: 0, payloadJson: '{}', ageMs: 0 }],
        progress: [{ ...about, fraction: 1, message: 'forged' }],
        steps: [{ ...about, name: 'forged', valueJson: '1' }],
      });
      expect(said.body).toEqual({ stale: [id] });
    }
    const stored = await database.sql(
      `select 1 from longshore.log_chunk union all select 1 from longshore.event
       union all select 1 from longshore.step union all
       select 1 from longshore.running where progress_message is not null`,
    );
    expect(stored).toEqual([]);
    expect(await statusOf('acme', id)).toBe('running');
    await worker.turn(success(job));
    expect(await statusOf('acme', id)).toBe('succeeded');
  });
});

describe('a worker', () => {
  it('gets no more jobs than it has room for, also from queues with and without limits', async () => {
    await publish(database, 'mail.limited', { concurrencyLimit: 5 });
    const worker = await HandWorker.of('acme');
    await worker.register('mail.limited', 'mail.send');
    for (const definitionKey of ['mail.limited', 'mail.send', 'mail.limited', 'mail.send']) {
      await enqueueOne(database, { tenant: 'acme', definitionKey });
    }
    const counts: number[] = [];
    await until('all have come', async () => {
      const { jobs } = await worker.turn({ room: 1, waitMs: 500 });
      if (jobs.length > 0) counts.push(jobs.length);
      return counts.reduce((sum, count) => sum + count, 0) === 4;
    });
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it('cannot mix up results: each is exactly one JSON value', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const id = await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail.send' });
    const job = await worker.take();
    for (const resultJson of ['1,2', '', 'nothing', '1 2']) {
      const answer = await worker.call('POST', '/turn', success(job, resultJson));
      expect([resultJson, answer.status]).toEqual([resultJson, 400]);
    }
    expect(await statusOf('acme', id)).toBe('running');
    await worker.turn(success(job, '"fine"'));
    expect(await getJob(database.db, 'acme', id)).toMatchObject({ result: 'fine' });
  });

  it('may send and receive packed bodies, within the limit of unpacked bytes', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const paramsJson = JSON.stringify({ long: 'x'.repeat(20_000) });
    const id = await enqueueOne(database, {
      tenant: 'acme',
      definitionKey: 'mail.send',
      paramsJson,
    });
    const job = await worker.take();
    expect(job).toMatchObject({ id, paramsJson });
    const send = async (text: string) => await worker.packed('/turn', gzipSync(text));
    expect(await send(' '.repeat(17 * 1024 * 1024))).toBe(413);
    expect(await send('no json')).toBe(400);
    expect(await worker.packed('/turn', Buffer.from('{}'))).toBe(400);
    expect(await send(JSON.stringify(success(job)))).toBe(200);
    expect(await statusOf('acme', id)).toBe('succeeded');
  });

  it('keeps the lease that it registered with when a heartbeat names none', async () => {
    const worker = await HandWorker.of('acme');
    const body = { host: 'edge', leaseMs: 60_000, definitions: [{ key: 'mail.send' }] };
    expect((await worker.call('PUT', '', body)).body).toMatchObject({ leaseMs: 60_000 });
    expect((await worker.call('POST', '/beat', {})).status).toBe(200);
    // The setting of the server is 10 s.
    const kept = await database.sql(
      `select 1 from longshore.worker where lease_until - heartbeat_at > interval '50 s'`,
    );
    expect(kept).toHaveLength(1);
  });

  it('gets a delivery again that it does not hold, with the same claim', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const id = await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail.send' });
    const lost = await worker.take();
    const beat = await worker.call('POST', '/beat', { holding: [] });
    expect(beat.body).toMatchObject({ unheld: [{ id, claim: 1, attempt: 1 }], gone: [] });
    const again = await worker.turn({ room: 3, holding: [] });
    expect(again.jobs).toEqual([lost]);
    expect((await worker.turn({ room: 3, holding: [{ id, claim: 1 }] })).jobs).toEqual([]);
    const failure = { kind: 'failure', error: { message: 'no' } };
    const { settled } = await worker.turn({ outcomes: [{ id, claim: 1, outcome: failure }] });
    expect(settled).toEqual([{ id, claim: 1, next: 'retrying' }]);
    const gone = await worker.call('POST', '/beat', { holding: [{ id, claim: 1 }] });
    expect(gone.body).toMatchObject({ gone: [id] });
  });

  it('that was retired is gone for all its calls, and may not come back under its id', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const waiting = worker.turn({ room: 1, waitMs: 30_000 });
    await until('it waits', async () => {
      const [row] = await database.sql<{ turn_at: Date | null }>(
        'select turn_at from longshore.worker',
      );
      return row?.turn_at;
    });
    expect((await worker.call('DELETE', '')).status).toBe(204);
    expect((await waiting).jobs).toEqual([]);
    expect((await worker.call('POST', '/beat', {})).status).toBe(410);
    expect((await worker.call('POST', '/turn', { room: 1 })).status).toBe(410);
    expect(await worker.register('mail.send')).toBe(410);
  });

  it('that is idle gets a renewed lease, and hears of a job that it owns and does not know', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const outcome = { id: worker.id, claim: 1, outcome: { kind: 'unstarted' } };
    const idle = { room: 1, waitMs: 30_000, idle: true };
    expect((await worker.call('POST', '/turn', { ...idle, outcomes: [outcome] })).status).toBe(400);
    expect((await worker.call('POST', '/turn', { ...idle, holding: [] })).status).toBe(400);
    await database.sql(`update longshore.worker set lease_until = clock_timestamp()`);
    const id = await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail.send' });
    const first = await worker.turn(idle);
    expect(first.jobs).toMatchObject([{ id }]);
    const renewed = await database.sql(
      `select 1 from longshore.worker where lease_until > clock_timestamp() + interval '5 s'`,
    );
    expect(renewed).toHaveLength(1);
    expect(await worker.turn(idle)).toMatchObject({ jobs: [], beat: true });
    await worker.call('DELETE', '');
    expect((await worker.call('POST', '/turn', idle)).status).toBe(410);
  });

  it('that leaves while it waits takes no job with it', async () => {
    const worker = await HandWorker.of('acme');
    await worker.register('mail.send');
    const left = new AbortController();
    const wanted = { tenant: 'acme', name: 'w', scopes: ['worker'] as const, expiresAt: null };
    const { key } = await createKey(database.db, BY, wanted);
    const waiting = fetch(`${url}/v1/workers/${worker.id}/turn`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ room: 1, waitMs: 30_000 }),
      signal: left.signal,
    });
    await until('it waits', async () => {
      const [row] = await database.sql<{ turn_at: Date | null }>(
        'select turn_at from longshore.worker',
      );
      return row?.turn_at;
    });
    left.abort();
    await expect(waiting).rejects.toThrow();
    const id = await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail.send' });
    expect(await worker.take()).toMatchObject({ id, attempt: 1 });
  });
});
