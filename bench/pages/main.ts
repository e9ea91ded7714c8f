import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { EmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Db } from '../../src/store/connection/db.ts';
import { rollUpCounters } from '../../src/store/counters/roll-up.ts';
import { migrate } from '../../src/store/connection/migrate.ts';
import { ensurePartitions } from '../../src/store/connection/partitions.ts';
import { Checkout } from '../harness/checkout.ts';
import { nowMs } from '../harness/clock.ts';
import { figure, percentile } from '../harness/numbers.ts';
import type { Row } from '../harness/results.ts';
import { startLongshore } from '../servers/longshore.ts';

/**
 * `npm run bench:pages`: how long the calls take that the dashboard makes, beside many jobs. Needs no
 * peers. The server is a real `longshore api`, the tables are filled by SQL (fill.sql).
 */

const { values } = parseArgs({
  options: {
    live: { type: 'string', default: '100000' },
    finished: { type: 'string', default: '200000' },
    requests: { type: 'string', default: '200' },
    json: { type: 'string' },
  },
});
const LIMIT_MS = 100;
const WARM_UP = 10;

const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-pages-'));
const postgres = new EmbeddedPostgres({
  dataDir: folder,
  log: silentLog,
  extraSettings: { shared_buffers: '256MB', max_wal_size: '4GB' },
});
try {
  await postgres.start();
  const [job, failed] = await fill(postgres.url);
  process.exitCode = (await measure(postgres.url, job, failed)) ? 0 : 1;
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Answers with the id of a job that is running, and of one that failed. */
async function fill(url: string): Promise<[string, string]> {
  await migrate({ url, log: silentLog, shards: 1 });
  const read = async (name: string) => await readFile(new URL(name, import.meta.url), 'utf8');
  const db = Db.open({
    clock: systemClock,
    url,
    log: silentLog,
    max: 1,
    shards: 1,
    queryTimeoutMs: 600_000,
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await ensurePartitions(db);
    await client.query(await read('../workloads/sql/days.sql'));
    const settings = `select set_config('bench.live', $1, false), set_config('bench.finished', $2, false)`;
    await client.query(settings, [values.live, values.finished]);
    await client.query(await read('fill.sql'));
    while ((await rollUpCounters(db, 0, '-infinity', 10_000)).rows > 0);
    await client.query('vacuum analyze');
    const ids = await client.query<{ id: string }>(
      `(select id from longshore.running order by id limit 1) union all
       (select id from longshore.done where state = 'failed' order by id desc limit 1)`,
    );
    return [ids.rows[0]?.id ?? '', ids.rows[1]?.id ?? ''];
  } finally {
    await client.end();
    await db.close();
  }
}

function lastDay(): string {
  const to = Date.now();
  const query = { from: new Date(to - 86_400_000).toISOString(), to: new Date(to).toISOString() };
  return new URLSearchParams(query).toString();
}

/** Prints a table, and answers whether every page was quick enough. */
async function measure(url: string, running: string, failed: string): Promise<boolean> {
  const paths = [
    '/v1/stats',
    '/v1/stats?windowMinutes=1440',
    '/v1/series',
    '/v1/series?minutes=360',
    '/v1/series?minutes=360&histograms=true',
    '/v1/series?minutes=43200&histograms=true',
    '/v1/tenants',
    '/v1/series?minutes=1440',
    '/v1/series?minutes=10080',
    '/v1/series?minutes=43200',
    '/v1/series?minutes=360&definitionKey=key-7&histograms=true',
    '/v1/series?minutes=43200&definitionKey=key-7&histograms=true',
    '/metrics',
    '/v1/jobs',
    '/v1/jobs?status=queued',
    '/v1/jobs?status=running&status=cancelling',
    '/v1/jobs?status=failed',
    '/v1/jobs?status=succeeded',
    '/v1/jobs?definitionKey=key-7',
    '/v1/jobs?definitionKey=key-4&status=failed',
    '/v1/jobs?definitionKey=key-7&status=failed',
    '/v1/jobs?definitionKey=key-7&status=queued',
    '/v1/jobs?definitionKey=key-7&status=retrying',
    '/v1/jobs?definitionKey=key-7&status=succeeded',
    '/v1/jobs?definitionKey=key-7&status=queued&q=absent',
    '/v1/jobs?tag=rare',
    '/v1/jobs?tag=nightly',
    '/v1/jobs?tag=once',
    '/v1/jobs?definitionKey=key-7&tag=rare',
    '/v1/jobs?status=failed&tag=rare',
    '/v1/jobs?errorCode=HANDLER_ERROR',
    '/v1/jobs?q=customer-77',
    '/v1/jobs?q=absent',
    '/v1/jobs?q=key-7',
    '/v1/jobs?q=two+absent+words',
    '/v1/jobs?q=definition:ey-7',
    '/v1/jobs?q=status:failed+definition:key-4*',
    '/v1/jobs?q=status:failed+code:HANDLER_ERROR+customer',
    '/v1/jobs?q=tag:rare+tag:nightly',
    '/v1/jobs?q=owner:team-3+status:failed',
    '/v1/jobs?q=worker:00000000+status:running',
    `/v1/jobs?q=${failed.slice(-12)}`,
    '/v1/search-values',
    '/v1/views',
    '/v1/jobs/export?format=csv&limit=200',
    '/v1/jobs/export?format=jsonl&limit=200&q=status:failed',
    '/v1/jobs?status=queued&sort=-priority',
    '/v1/jobs?status=scheduled&sort=runAt',
    '/v1/jobs?status=retrying&sort=runAt&definitionKey=key-7',
    '/v1/jobs?status=queued&sort=-priority&tag=once',
    `/v1/jobs/${running}`,
    `/v1/jobs/${failed}`,
    `/v1/jobs/${failed}/attempts`,
    `/v1/jobs/${failed}/events`,
    `/v1/jobs/${failed}/logs`,
    '/v1/dead-letters',
    '/v1/dead-letters?definitionKey=key-4',
    '/v1/dead-letters?q=unknown',
    '/v1/dead-letters?q=definition:key-4*+unknown',
    '/v1/dead-letters/groups',
    `/v1/dead-letters/groups?buckets=24&${lastDay()}`,
    '/v1/definitions',
    '/v1/definitions/key-7/logs',
    `/v1/jobs/${running}/related`,
    `/v1/jobs/${failed}/steps`,
    '/v1/workers',
    '/v1/scale',
    '/v1/tenant',
    '/v1/schedules',
    '/v1/bulk',
    '/v1/batches',
    '/v1/alerts',
    '/v1/usage',
    '/v1/usage?groupBy=definition',
    '/v1/audit?q=absent',
    '/v1/webhooks',
    '/v1/releases',
    '/v1/shards',
  ];
  await using server = await startLongshore(new Checkout().program, 'api', url);
  const rows: Row[] = [];
  process.stdout.write(`${values.live} live and ${values.finished} finished jobs\n\n`);
  process.stdout.write('| call | p50 ms | p99 ms |\n|---|---|---|\n');
  let quick = true;
  for (const path of paths) {
    const took: number[] = [];
    for (let n = 0; n < WARM_UP + Number(values.requests); n += 1) {
      const startMs = nowMs();
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
      const text = await answer.text();
      if (n >= WARM_UP) took.push(nowMs() - startMs);
      if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${text.slice(0, 300)}`);
    }
    const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)];
    quick &&= p99 < LIMIT_MS;
    const name = path
      .replace(running, 'RUNNING')
      .replace(failed, 'FAILED')
      .replace(failed.slice(-12), 'END')
      .replace(/from=.*/, 'DAY');
    process.stdout.write(`| ${name} | ${figure(p50)} | ${figure(p99)} |\n`);
    const [min, max] = [Math.min(...took), Math.max(...took)];
    const row = { system: 'longshore', unit: 'ms', median: p50, min, max, rounds: 1 };
    rows.push({ ...row, workload: `pages ${name}` });
  }
  if (values.json) await writeFile(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  if (!quick) process.stderr.write(`some of it takes longer than ${LIMIT_MS} ms\n`);
  return quick;
}
