import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { clusterFamilies } from '../../metrics/cluster.ts';
import { CONTENT_TYPE, textOf } from '../../metrics/family.ts';
import { processFamilies } from '../../metrics/process-families.ts';
import type { SignInCounts } from '../../metrics/sign-in-counts.ts';
import { readCluster } from '../../store/counters/read-metrics.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';

const METRICS = {
  operationId: 'metrics',
  tags: ['server'],
  summary: 'Metrics of the whole cluster, for Prometheus',
  description:
    'In the text format of Prometheus. Every API process returns the same metrics of jobs, workers ' +
    'and the database; metrics that begin with process_, and longshore_sign_ins_total, are its own. ' +
    'Counts include all tenants.',
  response: { 200: answer('The metrics.', z.string(), 'text/plain'), ...refusals('UNAVAILABLE') },
};

export function metricsRoutes(
  app: FastifyInstance,
  { db, version }: HttpDeps,
  signIns: SignInCounts,
): void {
  const config = { access: 'operate', ofDefaultTenant: true, quiet: true } as const;
  let looking: Promise<string> | null = null;

  const look = async () =>
    await textOf([
      ...clusterFamilies(await readCluster(db)),
      ...signIns.families(),
      ...processFamilies(version),
    ]);

  app.get('/metrics', { schema: METRICS, config }, async (_request, reply) => {
    // Concurrent requests share one read.
    looking ??= look().finally(() => (looking = null));
    return await reply.type(CONTENT_TYPE).send(await looking);
  });
}
