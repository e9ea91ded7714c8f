import type { FastifyRequest } from 'fastify';
import { type ChangeResult, conflictOf, type JobChange } from '../core/job/change-result.ts';
import type { AcceptedAnswer } from '../protocol/answers/job-answer.ts';
import { Refusal } from '../protocol/refusal.ts';
import { parseRetry } from '../protocol/requests/retry-body.ts';
import { getJob } from '../store/read/get-job.ts';
import { retryJob } from '../store/change/retry-job.ts';
import { actorOf } from './access/caller.ts';
import type { HttpDeps } from './deps.ts';
import { noSuchJob, wellFormed } from './cursors/job-path.ts';
import { bodyRefusals } from './openapi.ts';
import { refuseMisfit } from '../enqueue/start-jobs.ts';
import { tenantOf } from './access/tenant.ts';

/** Errors of all routes that change a job. */
export const changeRefusals = bodyRefusals('NOT_FOUND', 'CONFLICT');
export const retryRefusals = bodyRefusals('PAYLOAD_INVALID', 'NOT_FOUND', 'CONFLICT');
export const signalRefusals = retryRefusals;

/** The answer to a change, or the refusal that it met. */
export function accepted(jobId: string, result: ChangeResult, change: JobChange): AcceptedAnswer {
  switch (result.kind) {
    case 'missing':
      return noSuchJob(jobId);
    case 'changed':
      return { jobId, status: result.status };
    case 'forbidden':
      throw new Refusal('FORBIDDEN', result.why);
    case 'refused':
    case 'taken':
    case 'parent':
      throw new Refusal('CONFLICT', conflictOf(change, result));
  }
}

/** Changed params are validated against the schema, like those of a new job. */
export async function retry(
  request: FastifyRequest,
  id: string,
  { db, enqueuer }: Pick<HttpDeps, 'db' | 'enqueuer'>,
): Promise<AcceptedAnswer> {
  const jobId = wellFormed(id);
  const retryRequest = parseRetry(request.body);
  const tenant = tenantOf(request);
  const { paramsJson } = retryRequest;
  if (paramsJson !== null) {
    const job = (await getJob(db, tenant, jobId)) ?? noSuchJob(jobId);
    await refuseMisfit(enqueuer, tenant, { ...job, paramsJson });
  }
  const result = await retryJob(db, tenant, jobId, retryRequest, actorOf(request));
  return accepted(jobId, result, 'retry');
}
