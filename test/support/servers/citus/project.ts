import type { TestProject } from 'vitest/node';
import { shareCompileCache } from '../../compile-cache.ts';
import { startCitus } from './cluster.ts';

/** Starts the Citus cluster of the project `citus`, whose files run on it instead of PostgreSQL. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCitus();
  if (!cluster) throw new Error('Citus is not installed here');
  const forgetCache = await shareCompileCache();
  project.provide('clusterUrl', cluster.url);
  project.provide('cluster15Url', null);
  project.provide(
    'citusUrls',
    cluster.nodes.map(({ url }) => url),
  );
  return async () => {
    await cluster.stop();
    await forgetCache();
  };
}
