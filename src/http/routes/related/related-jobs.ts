import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { JobIdParams } from '../../../protocol/answers/job-answer.ts';
import { RelatedAnswer } from '../../../protocol/answers/related-answer.ts';
import { relatedJobs } from '../../../store/edges/related-jobs.ts';
import { tenantOf } from '../../access/tenant.ts';
import { noSuchJob, wellFormed } from '../../cursors/job-path.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const RELATED = {
  operationId: 'listRelatedJobs',
  tags: ['jobs'],
  summary: 'List the jobs that a job waits for, and those that wait for it',
  params: JobIdParams,
  response: {
    200: answer('The related jobs.', RelatedAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

export function relatedJobsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const options = { schema: RELATED, config: { access: 'jobs:read' } } as const;
  typed.get('/v1/jobs/:jobId/related', options, async (request) => {
    const jobId = wellFormed(request.params.jobId);
    return (await relatedJobs(db, tenantOf(request), jobId)) ?? noSuchJob(jobId);
  });
}
