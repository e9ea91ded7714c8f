import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import {
  BeatAnswer,
  BeatBody,
  InstanceParams,
  RegisterAnswer,
  RegisterBody,
  SayAnswer,
  SayBody,
  SpawnAnswer,
  SpawnBody,
  TurnAnswer,
  TurnBody,
} from '../../../protocol/worker-protocol.ts';
import { gunzipBody, sendPacked } from '../../edge/gzip-body.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals } from '../../openapi.ts';
import { BATCH_BODY_MAX_BYTES } from '../../start.ts';
import { instanceOf, keyOf, portOf } from './calling-worker.ts';

const refused = bodyRefusals('WORKER_GONE');

const REGISTER = {
  operationId: 'registerWorker',
  tags: ['workers'],
  summary: 'Register a worker over HTTP',
  description:
    'The worker makes its id, a new one at every start. May be repeated. A worker whose lease has ' +
    'ended gets 410: it stops its jobs and registers under a new id.',
  params: InstanceParams,
  body: RegisterBody,
  response: { 200: answer('Its lease.', RegisterAnswer), ...refused },
};

const TURN = {
  operationId: 'takeTurn',
  tags: ['workers'],
  summary: 'Report outcomes and take jobs',
  description:
    'Stores the outcomes, then claims at most `room` jobs, and waits up to `waitMs` for one. May be ' +
    'repeated: an outcome counts once. After a turn without an answer, send `holding`. A worker ' +
    'that holds nothing may send `idle`: the turn then stands for its heartbeats.',
  params: InstanceParams,
  body: TurnBody,
  response: { 200: answer('Stored outcomes and new jobs.', TurnAnswer), ...refused },
};

const BEAT = {
  operationId: 'sendHeartbeat',
  tags: ['workers'],
  summary: 'Renew the lease of a worker',
  description: 'Answers what the worker must do with the jobs that it holds.',
  params: InstanceParams,
  body: BeatBody,
  response: { 200: answer('What has changed.', BeatAnswer), ...refused },
};

const SAY = {
  operationId: 'reportFromJobs',
  tags: ['workers'],
  summary: 'Store logs, events, progress and steps of running jobs',
  description: 'Each is stored once. Reports about jobs that the worker does not own are stale.',
  params: InstanceParams,
  body: SayBody,
  response: { 200: answer('The jobs whose reports were refused.', SayAnswer), ...refused },
};

const SPAWN = {
  operationId: 'spawnFromJob',
  tags: ['workers'],
  summary: 'Store children of a running job',
  description:
    'All or none. May be repeated: a child of a name that exists is not stored again. The job waits ' +
    'for its children with the outcome `suspended` and `children`.',
  params: InstanceParams,
  body: SpawnBody,
  response: { 200: answer('The children, or why they were refused.', SpawnAnswer), ...refused },
};

const RETIRE = {
  operationId: 'retireWorker',
  tags: ['workers'],
  summary: 'Unregister a worker',
  description: 'Its waiting turns end, and jobs that it still owns go to other workers.',
  params: InstanceParams,
  response: { 204: z.null().describe('The worker is gone.'), ...refused },
};

// Answers are sent as text: a schema would check every job again.
const ROUTE = {
  config: { access: 'worker' },
  bodyLimit: BATCH_BODY_MAX_BYTES,
  preParsing: gunzipBody,
} as const;

/**
 * A turn with a large result, which is a text in JSON: a quotation mark takes two bytes. Params of
 * children are sent as they are.
 */
function largeBodyMaxBytes({ large }: HttpDeps): number {
  const resultMax = large?.maxBytes === null ? 0 : (large?.limit('result') ?? 0);
  return BATCH_BODY_MAX_BYTES + 2 * resultMax;
}

/** The calls of a worker without a database connection (docs/operate/remote-workers.md). */
export function remoteWorkersRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const port = () => portOf(deps);
  const path = '/v1/workers/:workerId';

  typed.put(path, { schema: REGISTER, ...ROUTE }, async (request) => {
    const body = parseBody(RegisterBody, request.body);
    const instance = instanceOf(request.params);
    return await port().register(keyOf(request), instance, body);
  });

  const turnRoute = { schema: TURN, ...ROUTE, bodyLimit: largeBodyMaxBytes(deps) };
  typed.post(`${path}/turn`, turnRoute, async (request, reply) => {
    const body = parseBody(TurnBody, request.body);
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    const instance = instanceOf(request.params);
    const taken = await port().turn(keyOf(request), instance, body, left.signal);
    const { jobs } = taken.reply;
    if (jobs.length > 0) onUnsent(reply, request, taken.undeliver);
    return await sendPacked(request, reply, taken.reply);
  });

  typed.post(`${path}/beat`, { schema: BEAT, ...ROUTE }, async (request, reply) => {
    const body = parseBody(BeatBody, request.body);
    const instance = instanceOf(request.params);
    return await sendPacked(request, reply, await port().beat(keyOf(request), instance, body));
  });

  typed.post(`${path}/say`, { schema: SAY, ...ROUTE }, async (request, reply) => {
    const body = parseBody(SayBody, request.body);
    const instance = instanceOf(request.params);
    return await sendPacked(request, reply, await port().say(keyOf(request), instance, body));
  });

  const spawnRoute = { schema: SPAWN, ...ROUTE, bodyLimit: largeBodyMaxBytes(deps) };
  typed.post(`${path}/spawn`, spawnRoute, async (request, reply) => {
    const body = parseBody(SpawnBody, request.body);
    const instance = instanceOf(request.params);
    return await sendPacked(request, reply, await port().spawn(keyOf(request), instance, body));
  });

  typed.delete(path, { schema: RETIRE, config: ROUTE.config }, async (request, reply) => {
    parseNothing(request.body);
    const instance = instanceOf(request.params);
    await port().retire(keyOf(request), instance);
    return reply.code(204).send(null);
  });
}

/** The connection broke before the answer was written: the jobs are for others. */
function onUnsent(
  reply: FastifyReply,
  request: FastifyRequest,
  undeliver: () => Promise<void>,
): void {
  const giveBack = () => {
    undeliver().catch((error: unknown) => {
      request.log.warn({ err: error }, 'cannot return jobs whose worker has gone');
    });
  };
  if (reply.raw.destroyed) giveBack();
  else reply.raw.once('close', () => void (reply.raw.writableFinished || giveBack()));
}
