import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { Longshore } from '../../../src/client/index.ts';
import { post } from '../../support/api.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { endAll, FIXTURES, launch, type Running } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

/** The spread of a definition changes while jobs arrive and run, and workers are killed. */

const SHARDS = 4;
const ROUNDS = 4;
const STEPS = 8;
const CUSTOMERS = 5;

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await testDatabase({ shards: SHARDS });
  folder = await mkdtemp(join(tmpdir(), 'longshore-spread-'));
});
afterEach(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
  await database.close();
});

const countOf = async (table: string) => {
  const [row] = await database.sql<{ n: number }>(`select count(*)::int as n from ${table}`);
  return row?.n ?? 0;
};

/** Of each attempt that ended, no other one of its key began before that. */
function overlaps(lines: readonly string[], keyOf: ReadonlyMap<string, string>): string[] {
  const running = new Map<string, string[]>();
  const wrong: string[] = [];
  for (const line of lines) {
    const [what, id = '', attempt = ''] = line.split(' ');
    const key = keyOf.get(id);
    if (key === undefined) continue;
    const begun = running.get(key) ?? [];
    if (what === 'start') running.set(key, [...begun, `${id} ${attempt}`]);
    else {
      const at = begun.indexOf(`${id} ${attempt}`);
      if (at >= 0 && at < begun.length - 1) wrong.push(`${key}: ${begun.slice(at).join(', ')}`);
      running.set(key, begun.slice(at + 1));
    }
  }
  return wrong;
}

it('changing the spread loses and duplicates nothing, with workers that are killed', async () => {
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_SHARDS: String(SHARDS),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '4',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_LEASE_MS: '1500',
  };
  const servers = [await launch('api', { env }), await launch('api', { env })];
  const addresses = servers.map(({ summary }) => summary.address ?? '');
  const clients = addresses.map((url) => new Longshore({ url }));
  const workers: Running[] = [await launch('worker', { env }), await launch('worker', { env })];
  const [client] = clients;
  if (!client) throw new Error('no client');
  await client.flow.limit('record', { concurrencyKeyLimit: 1 });

  const file = join(folder, 'evidence');
  const job = { definitionKey: 'record', params: { file, holdMs: 5 } };
  const entry = { definition: 'record', params: job.params };
  const customers = new Map<string, string>();
  const once = new Set<string>();
  let acknowledged = 0;
  const start = async (more: object, server = 0) => {
    const { status, body } = await post(`${addresses[server]}/v1/jobs`, { ...job, ...more });
    expect(status).toBe(202);
    return (body as { jobId: string }).jobId;
  };
  /** The same request to both servers, which learn of a new spread at different times. */
  const startTwice = async (more: object) => {
    const ids = await Promise.all([start(more, 0), start(more, 1)]);
    expect(new Set(ids).size).toBe(1);
    once.add(ids[0] ?? '');
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const spread = [4, 1, 3, 2][round % 4] ?? 1;
    const changing = client.flow.limit('record', { spread });
    for (let n = 0; n < STEPS; n += 1) {
      const name = `${round}-${n}`;
      const customer = `customer-${n % CUSTOMERS}`;
      const [keyed] = await Promise.all([
        start({ concurrencyKey: customer }, n % 2),
        start({}, n % 2),
        startTwice({ idempotencyKey: name }),
        startTwice({ unique: { key: name, while: { windowMs: 3_600_000 } } }),
        clients[n % 2]?.enqueueMany([entry, entry, entry]),
      ]);
      customers.set(keyed, customer);
      acknowledged += 7;
    }
    await changing;
    workers[round % 2]?.signal('SIGKILL');
    workers[round % 2] = await launch('worker', { env });
  }
  expect(once.size).toBe(ROUNDS * STEPS * 2);
  await until(
    'all have ended',
    async () => (await countOf('longshore.done')) === acknowledged,
    120_000,
  );
  expect(await countOf('longshore.job')).toBe(acknowledged);
  expect(await database.sql(`select from longshore.done where state <> 'succeeded'`)).toEqual([]);

  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const ends = lines.filter((line) => line.startsWith('end '));
  expect(new Set(ends.map((line) => line.split(' ')[1])).size).toBe(acknowledged);
  expect(overlaps(lines, customers)).toEqual([]);
  const shardsOf = new Map<string, Set<number>>();
  for (const [id, customer] of customers) {
    shardsOf.set(customer, (shardsOf.get(customer) ?? new Set()).add(shardOfJobId(id)));
  }
  expect([...shardsOf.values()].map(({ size }) => size)).toEqual(Array(CUSTOMERS).fill(1));

  // What reads the jobs of the definition finds those of all shards.
  expect(await database.sql('select distinct shard from longshore.done')).toHaveLength(SHARDS);
  await until('all are counted', async () => {
    return (await client.stats()).totals.succeeded === acknowledged;
  });
  const { definitions } = await client.scale();
  expect(definitions.find(({ key }) => key === 'record')).toMatchObject({ waiting: 0, running: 0 });
  const all = client.listAll({ definitionKey: 'record', status: 'succeeded' });
  let listed = 0;
  for await (const _ of all) listed += 1;
  expect(listed).toBe(acknowledged);
}, 240_000);
