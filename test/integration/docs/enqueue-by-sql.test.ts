import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { z } from 'zod';
import { RETRY_PRESETS } from '../../../src/core/failure/backoff.ts';
import { WEBHOOK_EVENTS } from '../../../src/core/webhook/webhook.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { start } from '../../../src/enqueue/start-jobs.ts';
import { JobBody } from '../../../src/protocol/requests/job-body.ts';
import { parseJob } from '../../../src/protocol/requests/parse-job.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { canonicalSha } from '../../../src/store/enqueue/key-holders.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { publish } from '../../support/limits.ts';
import { untilBlocked } from '../../support/servers/held-link.ts';
import { claimAny, newWorker } from '../../support/jobs.ts';

/**
 * `longshore.enqueue` and the API must do the same. The same requests go through both, in two databases,
 * and then every row is compared. There are several shards, so a job in the wrong one is noticed.
 */
const SHARDS = 4;

type Body = Record<string, unknown>;
type Answer = { id: string; status: string; created: boolean } | { refused: string; at: string };
type Door = (body: Body) => Promise<Answer>;

let api: TestDatabase;
let sql: TestDatabase;

beforeAll(async () => {
  [api, sql] = [await testDatabase({ shards: SHARDS }), await testDatabase({ shards: SHARDS })];
  for (const database of [api, sql]) {
    await publish(database, 'known', {}, 3);
    const upgrade = { 2: (old: unknown) => old };
    const evolved = defineJob({ key: 'evolved', upgrade, run: () => null });
    await publishDefinitions(database.db, [evolved.info]);
    await publish(database, 'keyed', { concurrencyKeyLimit: 1 });
    await database.sql(`insert into longshore.tenant (name) values ('acme')`);
    await database.sql(
      `insert into longshore.pause values ('definition', 'paused', 'me', null, now())`,
    );
    // They exist before any queue does. A queue stores the subscriptions when it is created.
    await database.sql(
      `insert into longshore.webhook (id, tenant, url, events, definition_keys, status, secret)
       select gen_random_uuid(), 'default', 'https://example.com', events::text[], keys::text[], status, 's'
       from (values ('{job.started,job.succeeded}', null, 'active'),
         ('{job.finished}', '{known}', 'active'), ('{job.retrying}', null, 'paused'))
         as w(events, keys, status)`,
    );
  }
});
afterAll(async () => {
  await api.close();
  await sql.close();
});

const CODES: Record<string, string> = {
  LS400: 'VALIDATION_FAILED',
  LS409: 'IDEMPOTENCY_CONFLICT',
  LS413: 'PAYLOAD_TOO_LARGE',
  LS422: 'PAYLOAD_INVALID',
};

const throughApi: Door = async ({ tenant = 'default', ...body }) => {
  try {
    const [job] = await start(api.enqueuer, [parseJob(body, String(tenant), undefined)], () => '');
    return { id: job?.jobId ?? '', status: job?.status ?? '', created: job?.created ?? false };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.code, at: error.errors?.[0]?.pointer ?? '' };
  }
};

const throughSql: Door = async (body) => {
  try {
    const [job] = await sql.sql<{ job_id: string; status: string; created: boolean }>(
      'select * from longshore.enqueue($1)',
      [JSON.stringify(body)],
    );
    return { id: job?.job_id ?? '', status: job?.status ?? '', created: job?.created ?? false };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    if (!CODES[code]) throw error;
    return { refused: CODES[code], at: message.slice(0, message.indexOf(': ')) };
  }
};

const FAR = '2096-02-29T08:00:00.123+02:00';
const FARTHER = '2097-01-01T00:00:00Z';
const job = (more: Body = {}): Body => ({ definitionKey: 'plain', ...more });

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const wide = (keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n]));

/** In this order: later ones meet what earlier ones left. */
const GOOD: Body[] = [
  job(),
  job({ params: 'text', priority: 7, tags: ['b', 'a'], maxAttempts: 9 }),
  job({ params: null, priority: -3, tags: [] }),
  // A length is a number of code points: an emoji counts as one.
  job({ tags: ['😀'.repeat(100), 'x'.repeat(100)], concurrencyKey: '😀'.repeat(255) }),
  job({ idempotencyKey: '😀'.repeat(255), unique: { key: '😀'.repeat(255), while: 'active' } }),
  job({ tags: ['A', 'a', 'ä', 'a\u0308', ' a'] }),
  // Params at each of their limits.
  job({ params: deep(10) }),
  job({ params: wide(500) }),
  job({ params: 'é'.repeat(65_535) }),
  job({ definitionKey: 'known' }),
  job({ definitionKey: 'known', definitionVersion: 2 }),
  job({ definitionKey: 'paused' }),
  job({ definitionKey: 'evolved' }),
  job({ definitionKey: 'evolved', paramsShape: 1 }),
  job({ definitionKey: 'evolved', paramsShape: 3, timeoutSeconds: 9 }),
  job({ definitionKey: 'evolved', delayMs: 90_000, unique: { key: 'k', while: 'queued' } }),
  job({
    definitionKey: 'evolved',
    paramsShape: 1,
    unique: { key: 'k', while: 'queued', onConflict: 'replace' },
  }),
  job({
    definitionKey: 'evolved',
    paramsShape: 3,
    unique: { key: 'k', while: 'queued', onConflict: 'replace' },
  }),
  job({ tenant: 'acme', params: { z: 1, a: [1.5, { b: 'é', 10: 1, 9: 2 }] } }),
  job({ runAt: FAR, expiresAt: FARTHER }),
  job({ runAt: '1999-01-01T00:00:00Z' }),
  job({ delayMs: 3_600_000 }),
  job({ hold: true }),
  job({ hold: true, runAt: FAR }),
  job({ hold: true, delayMs: 60_000 }),
  job({ timeoutSeconds: 0.0001 }),
  job({ timeoutSeconds: 90.5, retry: 'webhook', skipValidation: true }),
  job({ retry: 'report' }),
  job({ retry: 'cleanup', maxAttempts: 1 }),
  job({ retry: { baseMs: 90_000 } }),
  job({ retry: { baseMs: 5, maxMs: 10, jitter: 0 } }),
  job({ retry: { delaysMs: [1, 2.5] } }),
  job({ retry: {} }),
  job({ concurrencyKey: 'c' }),
  job({ idempotencyKey: 'once', params: { b: 1, a: 2 } }),
  job({ idempotencyKey: 'once', params: { a: 2, b: 1 } }),
  job({ idempotencyKey: 'once', tenant: 'acme' }),
  job({ definitionKey: 'u1', unique: { while: 'active' }, params: { n: 1e21 } }),
  job({ definitionKey: 'u1', unique: { while: 'active' }, params: { n: 1e21 } }),
  job({ definitionKey: 'u1', unique: { while: 'active' }, params: { n: 1 }, idempotencyKey: 'i' }),
  job({ definitionKey: 'u1', unique: { while: 'active' }, params: { n: 1 }, idempotencyKey: 'j' }),
  job({ definitionKey: 'u2', unique: { key: 'k', while: { windowMs: 60_000 } } }),
  job({ definitionKey: 'u2', unique: { key: 'k', while: { windowMs: 60_000 } }, params: 2 }),
  job({ definitionKey: 'u3', delayMs: 90_000, unique: { key: 'k', while: 'queued' } }),
  job({
    definitionKey: 'u3',
    runAt: FAR,
    priority: 4,
    expiresAt: FARTHER,
    params: { second: true },
    unique: { key: 'k', while: 'queued', onConflict: 'replace' },
  }),
  job({ definitionKey: 'u5', delayMs: 90_000, unique: { key: 'k', while: 'queued' } }),
  job({
    definitionKey: 'u5',
    delayMs: 80_000,
    unique: { key: 'k', while: 'queued', onConflict: 'replace', maxWaitMs: 85_000 },
  }),
  // It waits in line already, and is not sent back to wait: another one is made.
  job({ definitionKey: 'u4', unique: { key: 'k', while: 'queued' } }),
  job({
    definitionKey: 'u4',
    runAt: FAR,
    unique: { key: 'k', while: 'queued', onConflict: 'replace' },
  }),
];

const BAD: [why: string, body: Body][] = [
  ['no key', { params: 1 }],
  ['a key of another shape', { definitionKey: 'no spaces' }],
  ['an unknown field', job({ prams: {} })],
  ['an unknown field with a hard name', job({ 'a/b~c': 1 })],
  ['null is no value', job({ priority: null })],
  ['half a priority', job({ priority: 1.5 })],
  ['a shape of nothing', job({ paramsShape: 0 })],
  ['a priority as text', job({ priority: '1' })],
  ['too many attempts', job({ maxAttempts: 1001 })],
  ['an empty key', job({ idempotencyKey: '' })],
  ['a key with a line break', job({ concurrencyKey: 'a\nb' })],
  ['a key that is too long', job({ idempotencyKey: '😀'.repeat(256) })],
  [
    'a unique key that is too long',
    job({ unique: { key: `${'😀'.repeat(255)}a`, while: 'queued' } }),
  ],
  ['a time without offset', job({ runAt: '2026-01-01T00:00:00' })],
  ['a day that is not', job({ runAt: '2026-02-30T00:00:00Z' })],
  ['before 1970', job({ runAt: '1969-12-31T23:59:59Z' })],
  ['two times', job({ runAt: FAR, delayMs: 1 })],
  ['over already', job({ expiresAt: '2020-01-01T00:00:00Z' })],
  ['over before it begins', job({ runAt: FARTHER, expiresAt: FAR })],
  ['no flag', job({ hold: 'yes' })],
  ['no time at all', job({ timeoutSeconds: 0 })],
  ['unique for how long?', job({ unique: {} })],
  ['unique for another while', job({ unique: { while: 'ever' } })],
  ['a window of nothing', job({ unique: { while: { windowMs: 0 } } })],
  ['held and replacing', job({ hold: true, unique: { while: 'queued', onConflict: 'replace' } })],
  ['a bound without replacing', job({ unique: { while: 'queued', maxWaitMs: 9 } })],
  [
    'a bound below the delay',
    job({ delayMs: 10, unique: { while: 'queued', onConflict: 'replace', maxWaitMs: 9 } }),
  ],
  [
    'a bound and a time',
    job({ runAt: FAR, unique: { while: 'queued', onConflict: 'replace', maxWaitMs: 9 } }),
  ],
  ['an unknown preset', job({ retry: 'often' })],
  ['an unknown rule', job({ retry: { base: 1 } })],
  ['rules of two kinds', job({ retry: { delaysMs: [1], baseMs: 1 } })],
  ['no delays', job({ retry: { delaysMs: [] } })],
  ['a delay below zero', job({ retry: { delaysMs: [1, -1] } })],
  ['tags that are none', job({ tags: 'a' })],
  ['too many tags', job({ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) })],
  ['a tag twice', job({ tags: ['a', 'b', 'a', 'b'] })],
  ['a tag twice in a row', job({ tags: ['a', 'a'] })],
  ['an emoji twice', job({ tags: ['😀', 'b', '😀'] })],
  ['a tag that is too long', job({ tags: ['😀'.repeat(101)] })],
  ['an empty tag', job({ tags: ['a', ''] })],
  ['params too deep', job({ params: deep(11) })],
  ['params with too many keys', job({ params: wide(501) })],
  ['params too large', job({ params: 'é'.repeat(65_536) })],
  ['a hostile key', job({ params: JSON.parse('{"__proto__": 1}') })],
  ['a key that is ours', job({ params: { a: { $sealed: 'x' } } })],
  ['another job with the key', job({ idempotencyKey: 'once', params: 3 })],
];

describe('a request by SQL and the same by the API', () => {
  it('leave the same rows behind', async () => {
    for (const body of GOOD) {
      const [one, other] = [await throughApi(body), await throughSql(body)];
      expect({ body, ...other, id: '' }).toEqual({ body, ...one, id: '' });
    }
    expect(await rowsOf(sql)).toEqual(await rowsOf(api));
    expect((await rowsOf(sql))['job']).toHaveLength(41);
  });

  it('create queues with the subscriptions of webhooks that existed before', async () => {
    for (const database of [api, sql]) {
      const queues = await database.sql(
        `select distinct tenant, key, subscribed_states::text from longshore.queue
         where key in ('plain', 'known', '$hook:plain') order by tenant, key, subscribed_states::text`,
      );
      expect(queues).toEqual([
        { tenant: 'acme', key: '$hook:plain', subscribed_states: null },
        { tenant: 'acme', key: 'plain', subscribed_states: null },
        { tenant: 'default', key: '$hook:plain', subscribed_states: null },
        {
          tenant: 'default',
          key: 'known',
          subscribed_states: '{running,succeeded,failed,cancelled}',
        },
        { tenant: 'default', key: 'plain', subscribed_states: '{running,succeeded}' },
      ]);
    }
  });

  it('are refused alike, and leave nothing behind', async () => {
    const before = await rowsOf(sql);
    for (const [why, body] of BAD) {
      const [one, other] = [await throughApi(body), await throughSql(body)];
      expect({ why, ...one }).toHaveProperty('refused');
      // The API points at the place inside of params, SQL at params.
      const at = 'at' in one ? one.at.replace(/^\/params\/.*/, '/params') : '';
      expect({ why, ...other }).toEqual({ why, ...one, at });
    }
    expect(await rowsOf(sql)).toEqual(before);
  });

  it('end at the same limiter when their key is limited, in the end', async () => {
    const body = { definitionKey: 'keyed', concurrencyKey: 'k' };
    for (const n of [1, 2, 3]) {
      expect(await throughApi({ ...body, params: n })).toMatchObject({ status: 'queued' });
      expect(await throughSql({ ...body, params: n })).toMatchObject({ status: 'scheduled' });
    }
    for (let shard = 0; shard < SHARDS; shard += 1) await promote(sql.db, shard, 100);
    const [ours, theirs] = [await rowsOf(sql), await rowsOf(api)];
    expect(ours['limiter']).toEqual(theirs['limiter']);
    const blocked = (rows: Row[] = []) => rows.filter((row) => row['blocked']).length;
    expect(blocked(ours['waiting'])).toBe(2);
    expect(blocked(theirs['waiting'])).toBe(2);
  });

  it('are the same params to both, however they are written', async () => {
    const numbers = [0, -0, 1.5, 0.1, 1e21, 123456789012345680000, 1e-6, 1e-7, 5e-324, 1.7e308];
    const params = [
      ...numbers,
      ...numbers.map((n) => -n),
      { b: 1, a: { 2: 1, 10: 1, '01': 1, 4294967295: 1, '-1': 1 } },
      { '\u{1f600}': 1, '\uffff': 2, é: 3, z: 4, '': 5 },
      ['"\\/\b\f\n\r\t\u0001\u007f\u2028', true, null, [], {}],
    ];
    for (const value of params) {
      const json = JSON.stringify(value);
      const [row] = await sql.sql<{ written: string; sha: string }>(
        `select w.written, encode(sha256(convert_to(w.written, 'UTF8')), 'hex') as sha
         from longshore.canonical_json($1) as w(written)`,
        [json],
      );
      expect([json, row?.sha]).toEqual([json, canonicalSha(json)]);
      expect(JSON.parse(row?.written ?? '')).toEqual(JSON.parse(json));
    }
  });
});

/** What SQL must repeat of TypeScript, because callers in other languages call the function directly. */
describe('the rules in SQL', () => {
  it('have the fields and limits of the API', async () => {
    const rows = await sql.sql<{ part: string; name: string; low: string; high: string }>(
      `select part, name, low, high, required from longshore.request_fields()
       where name <> 'tenant' order by part, name`,
    );
    const numbers = rows.map(({ low, high, ...row }) => ({
      ...row,
      low: asNumber(low),
      high: asNumber(high),
    }));
    // A caller in SQL repeats its transaction, not a request; it says runAt; and the warning about
    // unregistered definitions is one of the API.
    const onlyApi = ['requestId', 'scheduledAt', 'requireRegistered', 'after', 'onParentFailure'];
    const fields = fieldsOf('job', z.toJSONSchema(JobBody, { io: 'input' }) as Schema);
    expect(numbers).toEqual(fields.filter(({ name }) => !onlyApi.includes(name)));
  });

  it('have the retry presets', async () => {
    const rows = await sql.sql<{ name: string }>('select * from longshore.retry_presets()');
    expect(rows).toEqual(
      Object.entries(RETRY_PRESETS).map(([name, { maxAttempts, retry }]) => ({
        name,
        max_attempts: maxAttempts,
        policy: retry,
      })),
    );
  });

  it('have the events of webhooks', async () => {
    const rows = await sql.sql<{ event: string }>(
      'select distinct event from longshore.job_events()',
    );
    const events = WEBHOOK_EVENTS.filter((event) => event.startsWith('job.'));
    expect(rows.map(({ event }) => event).sort()).toEqual(events.toSorted());
  });
});

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  [limit: string]: unknown;
}

interface Field {
  part: string;
  name: string;
  low: unknown;
  high: unknown;
  required: boolean;
}

const asNumber = (text: string | null) => (text === null ? null : Number(text));

/** The fields of an object and of the objects in it, each with its limits, like `request_fields`. */
function fieldsOf(part: string, { properties = {}, required = [] }: Schema): Field[] {
  const own = Object.entries(properties).map(([name, field]) => ({
    part,
    name,
    low:
      field['minimum'] ??
      field['exclusiveMinimum'] ??
      field['minLength'] ??
      field['minItems'] ??
      null,
    high: field['maximum'] ?? field['maxLength'] ?? field['maxItems'] ?? null,
    required: required.includes(name),
  }));
  const nested = Object.entries(properties).flatMap(([name, field]) =>
    [field, ...(field.anyOf ?? [])].flatMap((one) => (one.properties ? fieldsOf(name, one) : [])),
  );
  return [...own, ...nested].sort((one, other) =>
    `${one.part} ${one.name}` < `${other.part} ${other.name}` ? -1 : 1,
  );
}

describe('longshore.enqueue', () => {
  it('needs one grant, and gives its caller nothing else', async () => {
    const role = `shop_${Date.now()}`;
    await sql.sql(`create role ${role}`);
    const client = new Client({ connectionString: sql.url });
    await client.connect();
    try {
      const enqueue = `select status from longshore.enqueue('{"definitionKey": "granted"}')`;
      const asRole = async (text: string) => {
        await client.query(`begin; set local role ${role}`);
        try {
          return (await client.query(text)).rows as unknown[];
        } finally {
          await client.query('commit');
        }
      };
      await client.query(`grant usage on schema longshore to ${role}`);
      await expect(asRole(enqueue)).rejects.toThrow('permission denied for function enqueue');
      await client.query(`grant execute on function longshore.enqueue(jsonb) to ${role}`);
      expect(await asRole(enqueue)).toEqual([{ status: 'queued' }]);
      await expect(asRole('select 1 from longshore.job')).rejects.toThrow('permission denied');
      await client.query(`drop owned by ${role}; drop role ${role}`);
    } finally {
      await client.end();
    }
  });

  it('is callable from a trigger, and what is rolled back was never there', async () => {
    await sql.sql(`
      create table orders (id int primary key);
      create function on_order() returns trigger language plpgsql as $$
      begin
        perform longshore.enqueue(jsonb_build_object('definitionKey', 'order.ship',
          'params', jsonb_build_object('id', new.id), 'idempotencyKey', 'order ' || new.id));
        return new;
      end $$;
      create trigger ship after insert on orders for each row execute function on_order();`);
    const client = new Client({ connectionString: sql.url });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('insert into orders values (1)');
      await client.query('rollback');
      await client.query('insert into orders values (2)');
    } finally {
      await client.end();
    }
    const stored = await sql.sql(
      `select params from longshore.job where idempotency_key like 'order %'`,
    );
    expect(stored).toEqual([{ params: { id: 2 } }]);
  });

  it.each(['idempotencyKey', 'unique'])(
    'makes one job of two by %s, whichever is first',
    async (by) => {
      const [one, other] = [new Client(sql.url), new Client(sql.url)];
      await Promise.all([one.connect(), other.connect()]);
      const ask = async (client: Client, key: string) => {
        const kept =
          by === 'unique' ? { unique: { key, while: 'active' } } : { idempotencyKey: key };
        const body = JSON.stringify({ definitionKey: 'race', ...kept });
        const { rows } = await client.query('select * from longshore.enqueue($1)', [body]);
        return rows[0] as { job_id: string; created: boolean };
      };
      try {
        await ask(one, 'first');
        // The first one rolls back, so the second creates the job that it waited for.
        await one.query('begin');
        await ask(one, 'second');
        const waiting = ask(other, 'second');
        await untilBlocked(sql);
        await one.query('rollback');
        const made = await waiting;
        expect(made.created).toBe(true);
        expect(await ask(one, 'second')).toMatchObject({ job_id: made.job_id, created: false });
        // A transaction with one snapshot for all its statements cannot know of a later one, and says so.
        await one.query('begin isolation level repeatable read; select from longshore.queue');
        await ask(other, 'third');
        await expect(ask(one, 'third')).rejects.toMatchObject({ code: '40001' });
        await one.query('rollback');
      } finally {
        await Promise.all([one.end(), other.end()]);
      }
    },
  );

  it('blocks no other call while its transaction is open', async () => {
    const client = new Client({ connectionString: sql.url });
    await client.connect();
    try {
      const body = { definitionKey: 'keyed', concurrencyKey: 'open' };
      await throughSql(body);
      await client.query('begin');
      await client.query('select * from longshore.enqueue($1)', [JSON.stringify(body)]);
      // The same limiter, from the door where jobs are counted at once.
      const [other] = await start(sql.enqueuer, [parseJob(body, 'default', undefined)], () => '');
      expect(other?.status).toBe('queued');
      const worker = await newWorker(sql);
      await claimAny(sql, worker, 1);
    } finally {
      await client.query('rollback');
      await client.end();
    }
  });
});

type Row = Record<string, unknown>;

/** All tables there are, now and later. Ids become numbers; of times only those that were asked for stay. */
async function rowsOf(database: TestDatabase): Promise<Record<string, Row[]>> {
  const jobs = await database.sql<{ id: string }>(
    'select id from longshore.job order by created_at',
  );
  const names = new Map(jobs.map(({ id }, n) => [id, `#${n}`]));
  const tables = await database.sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'longshore'::regnamespace
       and relkind in ('r', 'p') and not relispartition order by relname`,
  );
  const rows: Record<string, Row[]> = {};
  for (const { name } of tables) {
    const found = await database.sql<Row>(`select * from longshore.${name}`);
    rows[name] = found
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([k, v]) => [k, comparable(k, v, names)])),
      )
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return rows;
}

function comparable(name: string, value: unknown, names: Map<string, string>): unknown {
  if (value === null) return null;
  if (name === 'id' || name === 'job_id') return names.get(String(value));
  if (name === 'seq' || name === 'blocked') return 'a place';
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (!(value instanceof Date)) return value;
  return value.getUTCFullYear() > 2090 || value.getUTCFullYear() < 2020 ? value : 'a time';
}
