import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { children } from '../harness/children.ts';
import { Postgres } from '../servers/postgres.ts';
import { checkBulk, checkSingle } from './check.ts';
import { noise } from './definitions.ts';
import { apiCost, type Cost, drainCost, idleCost, processMb, steadyCost } from './measure.ts';

/**
 * `npm run capacity`: measures what `src/core/capacity/constants.ts` has. `npm run capacity -- drain`
 * measures only what begins with this word.
 */
const [only = ''] = process.argv.slice(2);
const COUNT = 10_000;
const CASE_MS = 300_000;

const folder = await mkdtemp(join(tmpdir(), 'longshore-capacity-'));
const postgres = new Postgres(folder);
const params = (bytes: number) => () => ({ fill: noise(bytes - 11) });
const drains: Record<string, () => Promise<{ enqueue: Cost; work: Cost }>> = {
  'drain plain': async () => await drainCost(postgres, { key: 'inline', count: COUNT }),
  ...Object.fromEntries(
    [500, 1_000, 1_900, 2_000, 2_100, 3_000, 4_000, 8_000, 20_000, 100_000].map((bytes) => [
      `drain params ${bytes}`,
      async () =>
        await drainCost(postgres, {
          key: 'inline',
          count: bytes > 50_000 ? COUNT / 10 : COUNT / 2,
          params: params(bytes),
        }),
    ]),
  ),
  ...Object.fromEntries(
    [500, 4_000].map((resultBytes) => [
      `drain result ${resultBytes}`,
      async () =>
        await drainCost(postgres, {
          key: 'inline',
          count: COUNT / 2,
          params: () => ({ resultBytes }),
        }),
    ]),
  ),
  'drain process': async () =>
    await drainCost(postgres, { key: 'process', count: COUNT }, { concurrency: 4 }),
  'drain fresh': async () =>
    await drainCost(postgres, { key: 'fresh', count: 60 }, { concurrency: 4, warmUp: 8 }),
  'drain failing': async () => await drainCost(postgres, { key: 'failing', count: COUNT / 2 }),
  'drain log 1': async () =>
    await drainCost(postgres, {
      key: 'logging',
      count: COUNT / 2,
      params: () => ({ logLines: 1 }),
    }),
  'drain log 20': async () =>
    await drainCost(postgres, {
      key: 'logging',
      count: COUNT / 2,
      params: () => ({ logLines: 20 }),
    }),
  'drain limited': async () => await drainCost(postgres, { key: 'limited', count: COUNT }),
  'drain webhook': async () =>
    await drainCost(postgres, { key: 'watched', count: COUNT / 2 }, { webhook: true }),
  'drain idempotency': async () =>
    await drainCost(postgres, {
      key: 'inline',
      count: COUNT,
      options: (n) => ({ idempotencyKey: `order-${n}-${String(n).padStart(20, '0')}` }),
    }),
  'drain unique': async () =>
    await drainCost(postgres, {
      key: 'inline',
      count: COUNT,
      options: (n) => ({
        unique: { key: `order-${n}-${String(n).padStart(20, '0')}`, while: 'active' },
      }),
    }),
  'drain tags': async () =>
    await drainCost(postgres, {
      key: 'inline',
      count: COUNT,
      options: (n) => ({ tags: ['nightly', `customer-${n % 100}`] }),
    }),
  'drain delayed': async () =>
    await drainCost(postgres, { key: 'inline', count: COUNT, options: () => ({ delayMs: 3_000 }) }),
};
const rest: Record<string, () => Promise<object>> = {
  ...Object.fromEntries(
    [20, 100, 500, 1_500].flatMap((perSecond) =>
      [0, 1, 3].map((workers) => [
        `steady ${perSecond} with ${workers} workers`,
        async () => await steadyCost(postgres, { perSecond, seconds: 15, workers }),
      ]),
    ),
  ),
  'api 1': async () => await apiCost(postgres, 1),
  'api 10': async () => await apiCost(postgres, 10),
  'api 100': async () => await apiCost(postgres, 100),
  'api 1000': async () => await apiCost(postgres, 1_000),
  idle: async () => await idleCost(postgres, 20),
  'check bulk': async () => await checkBulk(postgres),
  'check single 50': async () => await checkSingle(postgres, 50),
  memory: async () => ({ processMb: await processMb(postgres) }),
};

try {
  await postgres.start();
  for (const [name, measure] of Object.entries({ ...drains, ...rest })) {
    if (!name.startsWith(only)) continue;
    try {
      process.stdout.write(`${name}: ${text(await inTime(measure()))}\n`);
    } catch (error) {
      process.stdout.write(`${name}: ${String(error)}\n`);
      process.exitCode = 1;
    }
  }
} finally {
  await children.endAll();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

/** A measurement that hangs fails, and the next one begins. */
async function inTime<Value>(measured: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('it took too long')), CASE_MS);
  try {
    return await Promise.race([measured, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function text(value: object): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'number' ? Number(one.toPrecision(4)) : one,
  );
}
