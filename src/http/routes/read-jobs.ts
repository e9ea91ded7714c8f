import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { mayActForAll } from '../../core/access/scope.ts';
import { timeOfJobId } from '../../core/job/job-id.ts';
import { JobAnswer, JobIdParams, JobPageAnswer } from '../../protocol/answers/job-answer.ts';
import { JobQuery, RevealQuery } from '../../protocol/requests/job-query.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Db } from '../../store/connection/db.ts';
import { findByIdPart } from '../../store/read/find-by-id-part.ts';
import { getJob } from '../../store/read/get-job.ts';
import { readJobTenant } from '../../store/read/job-tenant.ts';
import { listJobs } from '../../store/read/list-jobs.ts';
import { listWaiting } from '../../store/read/list-waiting.ts';
import { makeCursor, nextLink, readCursor } from '../cursors/cursor.ts';
import { makeWaitingCursor, readWaitingCursor } from '../cursors/waiting-cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { noSuchJob, wellFormed } from '../cursors/job-path.ts';
import { answer, refusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import type { SearchSlots } from '../edge/search-slots.ts';
import { callerOf } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import { unsearchedBy } from './search/unsearched.ts';

const GET = {
  operationId: 'getJob',
  tags: ['jobs'],
  summary: 'Get a job',
  description: 'Secrets are replaced by [redacted], by field name and as the definition declares.',
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
    'with rel="next" contains the same. Jobs created meanwhile do not shift pages.',
  querystring: JobQuery,
  response: { 200: answer('A page of jobs.', JobPageAnswer), ...refusals('UNAVAILABLE') },
};

const READS = { access: 'jobs:read' } as const;

export function readJobsRoutes(
  app: FastifyInstance,
  { db, unservedAfterMs }: HttpDeps,
  redaction: Redaction,
  searches: SearchSlots,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  const listPage = async (query: JobQuery, tenant: string) => {
    const { sort, cursor, limit, id, definitionKey = null } = query;
    if (id !== undefined) {
      const jobs = await findByIdPart(db, tenant, id, { definitionKey, unservedAfterMs });
      return { jobs, nextCursor: null, searchedUntil: null };
    }
    const filter = { ...criteriaOf(query), tenant, limit, unservedAfterMs };
    if (sort === 'runAt' || sort === '-priority') {
      const after = cursor === undefined ? null : readWaitingCursor(cursor, sort);
      const { jobs, next } = await listWaiting(db, { ...filter, sort, after });
      return { jobs, nextCursor: next && makeWaitingCursor(sort, next), searchedUntil: null };
    }
    const afterId = cursor === undefined ? null : readCursor(cursor, sort);
    const newestFirst = sort === '-createdAt';
    const { jobs, nextId } = await listJobs(db, { ...filter, newestFirst, afterId });
    const searchedUntil = nextId && new Date(timeOfJobId(nextId)).toISOString();
    return { jobs, nextCursor: nextId && makeCursor(sort, nextId), searchedUntil };
  };

  typed.get('/v1/jobs/:jobId', { schema: GET, config: READS }, async (request) => {
    const jobId = wellFormed(request.params.jobId);
    const revealed = redaction.wantsAll(request);
    const job =
      (await getJob(db, tenantOf(request), jobId, unservedAfterMs)) ??
      (await jobOfOther(db, request, jobId));
    if (!revealed) return await redaction.job(job);
    await redaction.writeDown(request, 'job.reveal', jobId);
    return job;
  });

  typed.get('/v1/jobs', { schema: LIST, config: READS }, async (request, reply) => {
    const { query } = request;
    const tenant = tenantOf(request);
    const list = async () => await listPage(query, tenant);
    const { jobs, nextCursor, searchedUntil } =
      query.q === undefined && query.id === undefined
        ? await list()
        : await searches.run(tenant, list);
    if (nextCursor !== null) void reply.header('link', nextLink(request.url, nextCursor));
    const shown = await redaction.found(request, jobs, query.q);
    const unsearched = await unsearchedBy(db, tenant, query.q);
    return reply.send({ jobs: shown, nextCursor, searchedUntil, unsearched });
  });
}

/** An admin of the default tenant learns whose job it is; for others it does not exist. */
async function jobOfOther(db: Db, request: FastifyRequest, jobId: string): Promise<never> {
  const { home, scopes } = callerOf(request);
  const tenant = mayActForAll(home, scopes) ? await readJobTenant(db, jobId) : null;
  if (tenant === null) return noSuchJob(jobId);
  const detail = `job ${jobId} belongs to tenant ${tenant}; act for that tenant to see it: --tenant ${tenant}, or ?tenant=${tenant}`;
  throw new Refusal('NOT_FOUND', detail, { tenant });
}

export function criteriaOf(query: Omit<JobQuery, 'id' | 'sort' | 'cursor' | 'limit'>) {
  return {
    statuses: query.status ?? [],
    definitionKey: query.definitionKey ?? null,
    tag: query.tag ?? null,
    errorCode: query.errorCode ?? null,
    createdAfter: query.createdAfter ?? null,
    createdBefore: query.createdBefore ?? null,
    runAfter: query.runAfter ?? null,
    runBefore: query.runBefore ?? null,
    q: query.q ?? null,
  };
}
