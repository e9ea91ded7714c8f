import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { EmbeddedPostgres } from '../../../src/postgres/embedded.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { shareCompileCache } from '../compile-cache.ts';
import { reportMissingExtras } from '../checks/extras.ts';
import { startPostgres15, type TestServer } from './postgres-15.ts';
import { quickFolder } from '../quick-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server that all test files share; each of them makes its own database in it. */
    clusterUrl: string;
    /** The same on PostgreSQL 15; null on a machine that has none. */
    cluster15Url: string | null;
    /** The coordinator and the nodes, in the project `citus`; null in all others. */
    citusUrls: readonly string[] | null;
    /** Whether this run tests on PostgreSQL 15 too, where it is installed. */
    oldestPostgres: boolean;
  }
}

/** For tests that write rows past the triggers. */
const GRANTS = ['grant set on parameter session_replication_role to longshore'];

/** The log is kept short, as it may be in memory. */
const SETTINGS = { max_connections: '200', max_wal_size: '256MB' };

/** Starts the two PostgreSQL of a test run, side by side. They do not wait for the disk. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { oldestPostgres } = project.getProvidedContext();
  const oldest = oldestPostgres ? startPostgres15(SETTINGS) : null;
  if (project.name === 'integration') reportMissingExtras();
  project.provide('citusUrls', null);
  const starts = await Promise.allSettled([startEmbedded(), oldest]);
  const servers = starts.map((start) => (start.status === 'fulfilled' ? start.value : null));
  const forgetCache = await shareCompileCache();
  const stop = async () => {
    await Promise.all(servers.map(async (server) => await server?.stop()));
    await forgetCache();
  };
  for (const start of starts) {
    if (start.status === 'fulfilled') continue;
    await stop();
    throw start.reason;
  }
  const [newest, fifteen] = servers;
  project.provide('clusterUrl', newest?.url ?? '');
  project.provide('cluster15Url', fifteen?.url ?? null);
  return stop;
}

async function startEmbedded(): Promise<TestServer> {
  const dataDir = await quickFolder('longshore-test-cluster-');
  const postgres = new EmbeddedPostgres({
    loopback: true,
    dataDir,
    log: createLog('error'),
    unsafeForTests: true,
    extraSettings: SETTINGS,
    extraGrants: GRANTS,
  });
  await postgres.start();
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
