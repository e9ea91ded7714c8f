import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRunningCluster } from '../../src/postgres/embedded.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { query } from '../support/servers/embedded-fixture.ts';

/** How many connections a real server keeps that has nothing to do. Each is a process of PostgreSQL. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-idle-'));
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('an idle server closes the connections of its start', async () => {
  const data = join(folder, 'data');
  await launch('start', {
    env: { LONGSHORE_DATA: data, LONGSHORE_JOBS: join(FIXTURES, 'jobs') },
  });
  const url = (await findRunningCluster(data)) ?? '';
  expect(url).not.toBe('');
  // Two processes: each has one that listens, one for hints and some for statements; one for leases and
  // two for the supervisor and this test. With the connections of the start there are 19.
  await until('most are closed', async () => {
    const rows = await query(url, `select pid from pg_stat_activity where datname is not null`);
    return rows.length <= 11;
  });
}, 120_000);
