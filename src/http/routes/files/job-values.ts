import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type LargeKind, LargeValueLost } from '../../../core/large/large-value.ts';
import { CannotOpen } from '../../../core/access/sealed.ts';
import { JobIdParams } from '../../../protocol/answers/job-answer.ts';
import { RevealQuery } from '../../../protocol/requests/job-query.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { getJob } from '../../../store/read/get-job.ts';
import { storedValues } from '../../../store/large/large-values.ts';
import type { Redaction } from '../../access/redaction.ts';
import { tenantOf } from '../../access/tenant.ts';
import { noSuchJob, wellFormed } from '../../cursors/job-path.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const schemaOf = (kind: LargeKind, what: string) => ({
  operationId: kind === 'params' ? 'getJobParams' : 'getJobResult',
  tags: ['jobs'],
  summary: `Get the ${kind} of a job in full`,
  description:
    `${what} Also if they are large: then the job itself only says how large ` +
    `(${kind === 'params' ? 'largeParams' : 'largeResult'}). Secrets are redacted as in the job.`,
  params: JobIdParams,
  querystring: RevealQuery,
  response: {
    200: answer('The value.', z.unknown()),
    ...refusals(
      'NOT_FOUND',
      'NO_ENCRYPTION_KEY',
      'LARGE_VALUE_LOST',
      'STORAGE_UNAVAILABLE',
      'UNAVAILABLE',
    ),
  },
});

const PARAMS = schemaOf('params', 'The params as JSON.');
const RESULT = schemaOf('result', 'The result as JSON; 404 until the job has succeeded.');
const READS = { access: 'jobs:read' } as const;

/** Params and results, also large ones. Browsers store them as files: they are data of users. */
export function jobValueRoutes(
  app: FastifyInstance,
  { db, large }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  const open = async (tenant: string, json: string): Promise<unknown> => {
    try {
      const opened = large ? await large.open(tenant, json) : db.vault.open(tenant, json);
      return JSON.parse(opened) as unknown;
    } catch (error) {
      if (error instanceof LargeValueLost) throw new Refusal('LARGE_VALUE_LOST', error.message);
      if (error instanceof CannotOpen) throw new Refusal('NO_ENCRYPTION_KEY', error.message);
      throw error;
    }
  };

  const read = async (request: Asked, reply: FastifyReply, kind: LargeKind) => {
    const jobId = wellFormed(request.params.jobId);
    const tenant = tenantOf(request);
    const revealed = redaction.wantsAll(request);
    const job = (await getJob(db, tenant, jobId)) ?? noSuchJob(jobId);
    const stored = (await storedValues(db, tenant, jobId)) ?? noSuchJob(jobId);
    if (kind === 'result' && job.status !== 'succeeded') {
      throw new Refusal('NOT_FOUND', `job ${jobId} has no result: it is ${job.status}`);
    }
    const params = await open(tenant, stored.params);
    const result = kind === 'result' ? await open(tenant, stored.result ?? 'null') : null;
    if (revealed) await redaction.writeDown(request, 'job.reveal', jobId);
    const whole = { ...job, params, result };
    const shown = revealed ? whole : await redaction.job(whole);
    return await reply
      .header('content-disposition', `attachment; filename="job-${jobId}-${kind}.json"`)
      .type('application/json; charset=utf-8')
      .serializer(String)
      .send(JSON.stringify(shown[kind]));
  };

  typed.get('/v1/jobs/:jobId/params', { schema: PARAMS, config: READS }, async (request, reply) =>
    read(request, reply, 'params'),
  );
  typed.get('/v1/jobs/:jobId/result', { schema: RESULT, config: READS }, async (request, reply) =>
    read(request, reply, 'result'),
  );
}

type Asked = FastifyRequest<{
  Params: { jobId: string };
  Querystring: { reveal?: 'true' | 'false' | undefined };
}>;
