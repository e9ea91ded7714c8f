import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { JobAnswer, JobIdParams, JobPageAnswer } from '../../protocol/job-answer.ts';
import { JobQuery, RevealQuery } from '../../protocol/job-query.ts';
import { getJob } from '../../store/get-job.ts';
import { type JobFilter, listJobs } from '../../store/list-jobs.ts';
import { makeCursor, nextLink, readCursor } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../job-path.ts';
import { answer, refusals } from '../openapi.ts';
import type { Redaction } from '../redaction.ts';
import { tenantOf } from '../tenant.ts';

const GET = {
  operationId: 'getJob',
  tags: ['jobs'],
  summary: 'Look at one job',
  description: 'Secrets read [redacted], by the names of their fields and as the definition says.',
  params: JobIdParams,
  querystring: RevealQuery,
  response: { 200: answer('The job.', JobAnswer), ...refusals('NOT_FOUND', 'UNAVAILABLE') },
};

const LIST = {
  operationId: 'listJobs',
  tags: ['jobs'],
  summary: 'List jobs',
  description:
    'Newest first, page by page. While nextCursor is not null there may be more; the Link header ' +
    'with rel="next" holds the same. Jobs made meanwhile neither shift nor double a page.',
  querystring: JobQuery,
  response: { 200: answer('A page of jobs.', JobPageAnswer), ...refusals('UNAVAILABLE') },
};

const READS = { access: 'jobs:read' } as const;

export function readJobsRoutes(
  app: FastifyInstance,
  { db, unhandledAfterMs }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/jobs/:jobId', { schema: GET, config: READS }, async (request) => {
    const jobId = wellFormed(request.params.jobId);
    const revealed = redaction.wantsAll(request);
    const job = (await getJob(db, tenantOf(request), jobId, unhandledAfterMs)) ?? noSuchJob(jobId);
    if (!revealed) return await redaction.job(job);
    await redaction.writeDown(request, 'job.reveal', jobId);
    return job;
  });

  typed.get('/v1/jobs', { schema: LIST, config: READS }, async (request, reply) => {
    const { sort } = request.query;
    const filter = { ...filterOf(request.query, tenantOf(request)), unhandledAfterMs };
    const { jobs, nextId } = await listJobs(db, filter);
    const nextCursor = nextId === null ? null : makeCursor(sort, nextId);
    if (nextCursor !== null) void reply.header('link', nextLink(request.url, nextCursor));
    return reply.send({ jobs: await redaction.jobs(jobs), nextCursor });
  });
}

function filterOf(query: JobQuery, tenant: string): JobFilter {
  return {
    tenant,
    statuses: query.status ?? [],
    definitionKey: query.definitionKey ?? null,
    tag: query.tag ?? null,
    createdAfter: query.createdAfter ?? null,
    createdBefore: query.createdBefore ?? null,
    errorCode: query.errorCode ?? null,
    runAfter: query.runAfter ?? null,
    runBefore: query.runBefore ?? null,
    q: query.q ?? null,
    newestFirst: query.sort === '-createdAt',
    afterId: query.cursor === undefined ? null : readCursor(query.cursor, query.sort),
    limit: query.limit,
  };
}
