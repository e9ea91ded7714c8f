import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cleanup, type CleanupOptions } from '../../../src/batteries/cleanup/cleanup.ts';
import { runJob } from '../../../src/testing/run-job.ts';
import { scratch } from '../../support/artifacts/scratch.ts';
import { httpCache, redisCache } from '../../../src/batteries/cleanup/caches.ts';
import { startReceiver, status } from '../../support/servers/receiver.ts';
import { hasRedis, startRedis } from '../../support/servers/redis.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();

beforeEach(async () => {
  vi.stubEnv('APP_DATABASE_URL', database.url);
  await database.sql(`
    create schema shop;
    create table shop.session (id int primary key, ended_at timestamptz, state text);
    insert into shop.session
      select n, clock_timestamp() - make_interval(days => n, hours => -1), case when n % 2 = 0 then 'ended' else 'open' end
      from generate_series(1, 60) n;
    create table shop.customer (id int primary key, email text);
    create table shop.invoice (id int primary key, customer int, name text, total int);
    insert into shop.customer values (17, 'ada@example.com'), (18, 'bob@example.com');
    insert into shop.invoice values (1, 17, 'Ada', 5), (2, 17, 'Ada', 7), (3, 18, 'Bob', 9);
    create table shop.other (id int primary key, ended_at timestamptz)`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await database.sql('drop schema shop cascade');
});

const RULES = {
  sessions: { table: 'shop.session', column: 'ended_at', keepDays: 30, where: "state = 'ended'" },
} as const;
const job = (more: Partial<CleanupOptions> = {}) =>
  cleanup({ database: 'APP_DATABASE_URL', rules: RULES, batch: 4, pauseMs: 0, ...more });
const left = async (table: string) =>
  (await database.sql<{ n: number }>(`select count(*)::int as n from shop.${table}`))[0]?.n;

describe('retention', () => {
  it('counts in a dry run, and deletes the same rows in batches', async () => {
    const dry = await runJob(job(), { action: 'retention', dryRun: true });
    expect(dry.result).toMatchObject({ dryRun: true, rules: { sessions: { rows: 15 } } });
    expect(await left('session')).toBe(60);
    const run = await runJob(job(), { action: 'retention' });
    expect(run.result).toMatchObject({ dryRun: false, rules: { sessions: { rows: 15 } } });
    expect(await left('session')).toBe(45);
    const kept = await database.sql<{ id: number }>(
      `select id from shop.session where id > 30 and state = 'ended' order by id`,
    );
    expect(kept).toEqual([]);
    expect(run.progress.at(-1)?.message).toBe('sessions: 15 rows deleted');
  });

  it('archives rows before it deletes them', async () => {
    const folder = await scratch();
    const rules = { sessions: { ...RULES.sessions, archive: true } };
    const run = await runJob(job({ rules, archiveTo: folder }), { action: 'retention' });
    const { archives } = (run.result as unknown as { rules: { sessions: { archives: string[] } } })
      .rules.sessions;
    expect(archives).toHaveLength(4);
    const rows = [];
    for (const name of archives) {
      const bytes = await readFile(join(folder, name));
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(name);
      const lines = gunzipSync(bytes).toString().trim().split('\n');
      rows.push(...lines.map((line) => JSON.parse(line) as { id: number; state: string }));
    }
    const expected = Array.from({ length: 15 }, (_, n) => 32 + 2 * n);
    expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(expected);
    expect(rows.every(({ state }) => state === 'ended')).toBe(true);
  });

  it('deletes nothing that it could not archive', async () => {
    const rules = { sessions: { ...RULES.sessions, archive: true } };
    const archiveTo = '/dev/null/archives';
    const run = await runJob(job({ rules, archiveTo }), { action: 'retention' });
    expect(run.status).toBe('retrying');
    expect(await left('session')).toBe(60);
    expect(() => job({ rules })).toThrow('needs archiveTo');
  });

  it('goes on after a failure with the same limit of age and the numbers so far', async () => {
    await database.sql(`
      create function shop.refuse() returns trigger language plpgsql as $$
      begin if old.id = 40 then raise exception 'not this one'; end if; return old; end $$;
      create trigger refuse before delete on shop.session for each row execute function shop.refuse()`);
    const first = await runJob(job(), { action: 'retention' });
    expect(first).toMatchObject({ status: 'retrying', error: { message: 'not this one' } });
    expect(await left('session')).toBe(52);
    await database.sql('drop trigger refuse on shop.session');
    const again = await runJob(job(), { action: 'retention' }, { after: first });
    expect(again.result).toMatchObject({ rules: { sessions: { rows: 15 } } });
    expect(again.steps).toEqual(first.steps);
  });

  it('refuses what is not declared', async () => {
    const rules = await runJob(job(), { action: 'retention', rules: ['session'] });
    expect(rules.error?.message).toContain('did you mean "sessions"');
    const person = await runJob(job(), { action: 'erase', person: 'customer', id: '17' });
    expect(person.error).toMatchObject({ code: 'NON_RETRYABLE' });
    const half = await runJob(job(), { action: 'erase', person: 'customer', what: ['/'] });
    expect(half.error?.message).toContain('id: is required');
    expect(half.error?.message).toContain('what: is not a field of the action erase');
    const unset = await runJob(cleanup({ rules: RULES }), { action: 'retention' });
    expect(unset.error?.message).toContain('no database');
    expect(await left('session')).toBe(60);
  });
});

describe('erasure of a person', () => {
  const persons = {
    customer: [
      { table: 'shop.invoice', column: 'customer', erase: { set: { name: 'erased' } } },
      { table: 'shop.customer', column: 'id', erase: 'delete' },
    ],
  } as const;

  it('erases all declared tables, and certifies it without the id', async () => {
    const params = { action: 'erase', person: 'customer', id: '17' } as const;
    const dry = await runJob(job({ persons }), { ...params, dryRun: true });
    expect(await left('customer')).toBe(2);
    const run = await runJob(job({ persons }), params);
    const tables = [
      { table: 'shop.invoice', action: 'overwritten', columns: ['name'], rows: 2 },
      { table: 'shop.customer', action: 'deleted', rows: 1 },
    ];
    expect(dry.result).toMatchObject({ dryRun: true, certificate: { tables } });
    const { certificate } = run.result as unknown as { certificate: Record<string, unknown> };
    const { sha256, ...said } = certificate;
    expect(said).toMatchObject({ person: 'customer', tables });
    expect(said['idSha256']).toBe(createHash('sha256').update('17').digest('hex'));
    expect(sha256).toBe(createHash('sha256').update(JSON.stringify(said)).digest('hex'));
    expect(await database.sql('select id, name, total from shop.invoice order by id')).toEqual([
      { id: 1, name: 'erased', total: 5 },
      { id: 2, name: 'erased', total: 7 },
      { id: 3, name: 'Bob', total: 9 },
    ]);
    expect(await database.sql('select id from shop.customer')).toEqual([{ id: 18 }]);
  });

  it('erases nothing when one table fails', async () => {
    const wrong = {
      customer: [...persons.customer, { table: 'shop.gone', column: 'id', erase: 'delete' }],
    } as const;
    const run = await runJob(job({ persons: wrong }), {
      action: 'erase',
      person: 'customer',
      id: '17',
    });
    expect(run.error?.message).toContain('shop.gone');
    expect(await left('customer')).toBe(2);
  });
});

describe('caches', () => {
  const local = { allow: ['127.0.0.0/8'] };

  it('are purged by path over HTTP', async () => {
    const server = await startReceiver();
    try {
      vi.stubEnv('PURGE_TOKEN', 'purge-token');
      const cdn = httpCache({ url: `http://127.0.0.1:${server.port}`, token: 'PURGE_TOKEN' });
      const purging = job({ caches: { cdn }, ...local });
      const purge = async (...what: string[]) =>
        await runJob(purging, { action: 'purge', cache: 'cdn', what });
      expect((await purge('/a', '/b?c=1')).result).toEqual({ action: 'purge', purged: 2 });
      expect(server.received.map(({ method, path }) => [method, path])).toEqual([
        ['PURGE', '/a'],
        ['PURGE', '/b?c=1'],
      ]);
      expect(server.received[0]?.headers.authorization).toBe('Bearer purge-token');
      server.answerWith(status(404));
      expect((await purge('/a')).result).toEqual({ action: 'purge', purged: 0 });
      server.answerWith(status(503));
      expect(await purge('/a')).toMatchObject({ status: 'retrying' });
      for (const path of ['a', '//elsewhere.example/a', 'http://elsewhere.example/']) {
        expect((await purge(path)).error).toMatchObject({ code: 'NON_RETRYABLE' });
      }
      expect(server.received).toHaveLength(4);
    } finally {
      await server.close();
    }
  });

  it('are purged by the pattern of keys in Redis, below the declared prefixes', async ({
    skip,
  }) => {
    skip(!hasRedis);
    const redis = await startRedis();
    const { createClient } = await import('redis');
    const client = createClient({ url: redis.url });
    try {
      await client.connect();
      const keys = Array.from({ length: 1_200 }, (_, n) => `page:17:${n}`);
      await client.mSet(
        Object.fromEntries([...keys, 'page:18:0', 'session:1'].map((key) => [key, 'x'])),
      );
      vi.stubEnv('REDIS_CACHE_URL', redis.url);
      const pages = redisCache({ url: 'REDIS_CACHE_URL', prefixes: ['page:'] });
      const purge = async (what: string) =>
        await runJob(job({ caches: { pages } }), { action: 'purge', cache: 'pages', what: [what] });
      expect((await purge('page:17:*')).result).toEqual({ action: 'purge', purged: 1_200 });
      expect((await client.keys('*')).sort()).toEqual(['page:18:0', 'session:1']);
      expect((await purge('*')).error?.message).toContain('must begin with one of: page:');
      expect(await client.dbSize()).toBe(2);
    } finally {
      client.destroy();
      await redis.server.remove();
    }
  });
});
