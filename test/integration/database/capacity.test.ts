import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInProcess, type InProcess } from '../../../src/app/in-process.ts';
import { jobCost } from '../../../src/core/capacity/job-cost.ts';
import { DEFAULT_WORKLOAD, type Workload } from '../../../src/core/capacity/workload.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { EmbeddedPostgres } from '../../../src/postgres/embedded.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { difference, footprint } from '../../../bench/capacity/footprint.ts';
import { until } from '../../support/until.ts';

/**
 * The capacity model against a real PostgreSQL, which nothing else uses: WAL is counted for a whole
 * server. Bytes are counted, so a busy machine changes nothing but the sizes of batches, and these
 * are large here.
 */

const JOBS = 4_000;
const PER_CALL = 1_000;
const TOLERANCE = 0.25;

let folder: string;
let postgres: EmbeddedPostgres;
let longshore: InProcess;
let client: Client;

/** Text that PostgreSQL cannot compress. */
function noise(bytes: number): string {
  let text = '';
  while (text.length < bytes) text += Math.random().toString(36).slice(2);
  return text.slice(0, bytes);
}

const answers = defineJob({
  key: 'answers',
  isolation: 'inline',
  run: ({ resultBytes }: { fill: string; resultBytes: number }) => noise(resultBytes - 2),
});

const fails = defineJob({
  key: 'fails',
  isolation: 'inline',
  maxAttempts: 2,
  retry: { delaysMs: [1], jitter: 0 },
  run: (_: { fill: string; resultBytes: number }, { attempt }) => {
    if (attempt === 1) throw new Error('the other side answered 503 Service Unavailable');
    return null;
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-capacity-'));
  postgres = new EmbeddedPostgres({
    dataDir: folder,
    log: silentLog,
    // No checkpoint and no vacuum in the middle of a count.
    extraSettings: { checkpoint_timeout: '1h', max_wal_size: '4GB', autovacuum: 'off' },
    extraGrants: ['grant pg_checkpoint to longshore'],
  });
  await postgres.start();
  longshore = await createInProcess({
    databaseUrl: postgres.url,
    jobs: [answers, fails],
    concurrency: 500,
    logLevel: 'error',
  });
  client = new Client({ connectionString: postgres.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await longshore.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

type Options = { idempotencyKey?: string; tags?: string[] };

async function runAll(
  definition: typeof answers | typeof fails,
  { paramsBytes, resultBytes }: Workload,
  jobs: number,
  options: (n: number) => Options,
): Promise<void> {
  const rest = JSON.stringify({ fill: '', resultBytes }).length;
  for (let first = 0; first < jobs; first += PER_CALL) {
    const size = Math.min(PER_CALL, jobs - first);
    await longshore.enqueueMany(
      Array.from({ length: size }, (_, i) => ({
        definition,
        params: { fill: noise(Math.max(0, paramsBytes - rest)), resultBytes },
        options: options(first + i),
      })),
    );
  }
  await until('all jobs ended', async () => {
    const { rows } = await client.query<{ open: boolean }>(
      `select exists (select from longshore.waiting) or exists (select from longshore.running) as open`,
    );
    return rows[0]?.open === false;
  });
}

const workload = (changes: Partial<Workload>): Workload => ({
  ...DEFAULT_WORKLOAD,
  jobsPerDay: 1,
  failures: 0,
  ...changes,
});

const none = (): Options => ({});

describe('the capacity model predicts WAL and bytes on disk within a quarter', () => {
  test.each<[string, typeof answers | typeof fails, Workload, (n: number) => Options]>([
    ['small jobs', answers, workload({ paramsBytes: 100, resultBytes: 10 }), none],
    ['params of 2 kB', answers, workload({ paramsBytes: 2_000, resultBytes: 100 }), none],
    [
      'params and results of 4 kB',
      answers,
      workload({ paramsBytes: 4_000, resultBytes: 4_000 }),
      none,
    ],
    [
      'idempotency keys',
      answers,
      workload({ paramsBytes: 500, resultBytes: 100, idempotency: 1 }),
      (n) => ({ idempotencyKey: `order-${String(n).padStart(24, '0')}` }),
    ],
    ['failed attempts', fails, workload({ paramsBytes: 500, resultBytes: 4, failures: 1 }), none],
  ])('of %s', async (_, definition, load, options) => {
    // Warm: pages and plans are there, and the checkpoint is behind us.
    await client.query('checkpoint');
    await runAll(definition, load, PER_CALL, none);
    const before = await footprint(client);
    await runAll(definition, load, JOBS, options);
    const counted = difference(before, await footprint(client), JOBS);
    // Batches as large as here; a failed attempt is a round of its own.
    const predicted = jobCost(load, { enqueue: PER_CALL, perCall: PER_CALL, round: 100 });
    for (const name of ['walBytes', 'storedBytes'] as const) {
      const ratio = counted[name] / predicted[name];
      expect(ratio, `${name}: ${counted[name]} for ${predicted[name]}`).toBeGreaterThan(
        1 - TOLERANCE,
      );
      expect(ratio, `${name}: ${counted[name]} for ${predicted[name]}`).toBeLessThan(1 + TOLERANCE);
    }
  });
});
