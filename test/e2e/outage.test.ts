import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { jobInState, startJob } from '../support/api.ts';
import { EmbeddedFixture, query } from '../support/servers/embedded-fixture.ts';
import { endAll, FIXTURES, isAlive, launch, type Running } from '../support/processes.ts';
import { until } from '../support/until.ts';

/**
 * The database goes away in every way it can, while jobs come and run. No process is started again by
 * hand: servers and workers wait, and go on.
 */

let cluster: EmbeddedFixture;
let postgres: EmbeddedPostgres;
let folder: string;
let server: Running;
let workers: Running[];

beforeAll(async () => {
  cluster = await EmbeddedFixture.create();
  // Not the quick settings of other tests: what was acknowledged must be on the disk.
  postgres = cluster.server();
  await postgres.start();
  folder = await mkdtemp(join(tmpdir(), 'longshore-outage-'));
  const env = {
    DATABASE_URL: postgres.url,
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_CONCURRENCY: '3',
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_DRAIN_MS: '500',
  };
  server = await launch('api', { env });
  workers = await Promise.all([launch('worker', { env }), launch('worker', { env })]);
});
afterAll(async () => {
  await endAll();
  await cluster.remove();
  await rm(folder, { recursive: true });
});

const OURS = `from pg_stat_activity where application_name like 'longshore%'
  and application_name <> 'longshore supervisor' and pid <> pg_backend_pid()`;

const works = async () => {
  const id = await until('the API takes jobs', async () =>
    startJob(server.summary.address, 'echo').catch(() => null),
  );
  await jobInState(server.summary.address, id, 'succeeded');
};

async function storm(): Promise<void> {
  for (let round = 0; round < 15; round += 1) {
    const ended = await query(postgres.url, `select pg_terminate_backend(pid) ${OURS}`);
    if (round % 5 === 4) await works();
    else
      await until('they are back', async () => {
        return (
          (await query(postgres.url, `select pid ${OURS}`)).length >= Math.min(3, ended.length)
        );
      });
  }
}

async function backendCrash(): Promise<void> {
  const [victim] = await query(postgres.url, `select pid ${OURS} limit 1`);
  process.kill(Number(victim?.['pid']), 'SIGKILL');
}

async function postmasterKill(): Promise<void> {
  process.kill(postgres.pid ?? 0, 'SIGKILL');
}

async function longOutage(): Promise<void> {
  const fences = () => workers.map(({ stderr }) => stderr().split('fenced: stopping').length);
  const before = fences();
  await postgres.stop();
  await until('both have given up their lease', () => {
    return fences().every((count, index) => count > (before[index] ?? 0));
  });
  await postgres.start();
}

async function restart(): Promise<void> {
  await postgres.stop();
  const { address } = server.summary;
  const answers = [
    await fetch(`${address}/v1/jobs`),
    await fetch(`${address}/readyz`),
    await fetch(`${address}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ definitionKey: 'echo' }),
    }),
  ];
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  }
  expect((await fetch(`${address}/livez`)).status).toBe(200);
  await postgres.start();
}

describe('servers and workers outlive', () => {
  it.each([
    ['a storm of ended connections', storm],
    ['the crash of one backend, which resets all', backendCrash],
    ['kill -9 of the postmaster', postmasterKill],
    ['a restart of the database', restart],
    ['an outage that is longer than their lease', longOutage],
  ])('%s, and no acknowledged job is lost', async (_, disturb) => {
    const { address } = server.summary;
    const params = { file: join(folder, randomUUID()), holdMs: 30 };
    const ids = new Set<string>();
    const producing = { on: true };
    const producer = (async () => {
      while (producing.on) {
        // An answer that was lost is asked for again by the same key, as a client does.
        const more = { idempotencyKey: randomUUID() };
        const id = await until('it is acknowledged', async () =>
          startJob(address, 'record', params, more).catch(() => null),
        );
        ids.add(id);
      }
    })();
    await until('jobs flow', () => ids.size > 20);
    await disturb();
    await works();
    const before = ids.size;
    await until('jobs flow again', () => ids.size > before + 20);
    producing.on = false;
    await producer;
    for (const id of ids) await jobInState(address, id, 'succeeded');
    expect([server, ...workers].map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
    for (const { stderr } of [server, ...workers]) {
      expect(stderr()).not.toMatch(/unhandled|uncaught/i);
    }
  });
});
