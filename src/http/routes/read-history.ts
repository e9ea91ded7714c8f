import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  redactAttempt,
  redactEvent,
  redactLog,
  redactSteps,
  redactStream,
} from '../../core/access/redact-views.ts';
import type { EventView, StreamView } from '../../core/views/history.ts';
import { JobIdParams } from '../../protocol/answers/job-answer.ts';
import { RevealQuery } from '../../protocol/requests/job-query.ts';
import {
  AttemptsAnswer,
  EventPageAnswer,
  LogPageAnswer,
  StepsAnswer,
  StreamPageAnswer,
} from '../../protocol/answers/history-answer.ts';
import { EventQuery, LogQuery, StreamQuery } from '../../protocol/requests/history-query.ts';
import { readAttempts } from '../../store/read/read-attempts.ts';
import { isEventId, readEvents } from '../../store/read/read-events.ts';
import { readSteps } from '../../store/read/read-steps.ts';
import { isLogId, readLogs } from '../../store/read/read-logs.ts';
import { isStreamId, readStream } from '../../store/read/read-stream.ts';
import { nextLink, readLastEventId, readHistoryCursor } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { wantsStream } from '../streams/event-stream.ts';
import { noSuchJob, wellFormed } from '../cursors/job-path.ts';
import { answer, pageOrStream, refusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import type { History, Streams } from '../streams/streams.ts';
import { tenantOf } from '../access/tenant.ts';

const ATTEMPTS = {
  operationId: 'listAttempts',
  tags: ['jobs'],
  summary: 'List the attempts of a job',
  params: JobIdParams,
  querystring: RevealQuery,
  response: {
    200: answer('The attempts, oldest first.', AttemptsAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const STEPS = {
  operationId: 'listSteps',
  tags: ['jobs'],
  summary: 'List what the steps of a job stored',
  description: 'Values of ctx.step and ctx.checkpoint, which the next attempt reuses. Read-only.',
  params: JobIdParams,
  querystring: RevealQuery,
  response: {
    200: answer('The steps, oldest first.', StepsAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const LIVE =
  'With Accept: text/event-stream the response is a stream that starts at the beginning, or after ' +
  'the cursor, and continues live. Each entry is a message with its id. A disconnected client ' +
  'resumes after the id that it sends as Last-Event-ID, as an EventSource does automatically. ' +
  'Comment lines keep an idle stream open. When the job finishes, the last message is an event ' +
  'named end; a request after that returns 204, which stops an EventSource. Reopen a stream that ' +
  'closes without end.';

const live = {
  headers: z.object({
    'last-event-id': z.string().optional().describe('For streams: continue after this id.'),
  }),
  params: JobIdParams,
};

const EVENTS = {
  operationId: 'listEvents',
  tags: ['jobs'],
  summary: 'List or follow the events of a job',
  description: `Oldest first. ${LIVE} The event field of a message is the type of the event.`,
  ...live,
  querystring: EventQuery,
  response: {
    ...pageOrStream('A page of events.', EventPageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const LOGS = {
  operationId: 'listLogs',
  tags: ['jobs'],
  summary: 'List or follow the log of a job',
  description: `Oldest line first. ${LIVE} The event field of every other message is log.`,
  ...live,
  querystring: LogQuery,
  response: {
    ...pageOrStream('A page of log lines.', LogPageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const STREAM = {
  operationId: 'followStream',
  tags: ['jobs'],
  summary: 'Read or follow the live output of a job',
  description:
    `What the job sent with ctx.stream. ${LIVE} An event named chunk has text. An event named ` +
    'attempt says that the code of the job begins: its stream starts over, and earlier text no ' +
    'longer counts. The data of the end event is the status of the job.',
  ...live,
  querystring: StreamQuery,
  response: {
    ...pageOrStream('A part of the output of the last attempt.', StreamPageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

/** A worker writes a chunk every 100 ms. */
const STREAM_POLL = { pollMs: 100, pollMaxMs: 400 };

const READS = { access: 'jobs:read' } as const;

export function historyRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  streams: Streams,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/jobs/:jobId/attempts', { schema: ATTEMPTS, config: READS }, async (request) => {
    const jobId = wellFormed(request.params.jobId);
    const redactor = await redaction.ofHistory(request, jobId);
    const attempts = (await readAttempts(db, tenantOf(request), jobId)) ?? noSuchJob(jobId);
    return { attempts: await redaction.entries(attempts, redactor, redactAttempt) };
  });

  typed.get('/v1/jobs/:jobId/steps', { schema: STEPS, config: READS }, async (request) => {
    const jobId = wellFormed(request.params.jobId);
    const redactor = await redaction.ofHistory(request, jobId);
    const found = await readSteps(db, tenantOf(request), jobId);
    return redactor === null ? found : redactSteps(found, redactor);
  });

  typed.get('/v1/jobs/:jobId/events', { schema: EVENTS, config: READS }, async (request, reply) => {
    const jobId = wellFormed(request.params.jobId);
    const { limit, cursor } = request.query;
    const redactor = await redaction.ofHistory(request, jobId);
    const read = async (afterId: string | null) => {
      await app.permit(request, null);
      const page = await readEvents(db, tenantOf(request), jobId, { afterId, limit });
      if (page === null) return null;
      return { ...page, entries: await redaction.entries(page.events, redactor, redactEvent) };
    };
    const missing = () => noSuchJob(jobId);
    const history = { missing, name: 'events', read, nameOf: ({ type }: EventView) => type };
    return await sendHistory(request, reply, { ...history, isId: isEventId, cursor }, streams);
  });

  typed.get('/v1/jobs/:jobId/logs', { schema: LOGS, config: READS }, async (request, reply) => {
    const jobId = wellFormed(request.params.jobId);
    const { limit, cursor, attempt = null } = request.query;
    const redactor = await redaction.ofHistory(request, jobId);
    const read = async (afterId: string | null) => {
      await app.permit(request, null);
      const page = await readLogs(db, tenantOf(request), jobId, { afterId, attempt, limit });
      if (page === null) return null;
      return { ...page, entries: await redaction.entries(page.logs, redactor, redactLog) };
    };
    const missing = () => noSuchJob(jobId);
    const history = { missing, name: 'logs', read, nameOf: () => 'log' };
    return await sendHistory(request, reply, { ...history, isId: isLogId, cursor }, streams);
  });

  typed.get('/v1/jobs/:jobId/stream', { schema: STREAM, config: READS }, async (request, reply) => {
    const jobId = wellFormed(request.params.jobId);
    const { cursor } = request.query;
    const redactor = await redaction.ofHistory(request, jobId);
    const read = async (afterId: string | null) => {
      await app.permit(request, null);
      const page = await readStream(db, tenantOf(request), jobId, afterId);
      if (page === null) return null;
      const entries = await redaction.entries(page.entries, redactor, redactStream);
      return { ...page, entries, end: { status: page.status } };
    };
    const missing = () => noSuchJob(jobId);
    const nameOf = ({ text }: StreamView) => (text === null ? 'attempt' : 'chunk');
    const history = { missing, name: 'stream', read, nameOf, poll: STREAM_POLL };
    return await sendHistory(request, reply, { ...history, isId: isStreamId, cursor }, streams);
  });
}

interface HistoryRequest<Entry> extends History<Entry> {
  /** Name of the list in a page. */
  name: string;
  isId(text: string): boolean;
  cursor: string | undefined;
}

/** One page, or a live stream, depending on Accept. */
async function sendHistory<Entry extends { id: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  history: HistoryRequest<Entry>,
  streams: Streams,
): Promise<FastifyReply> {
  const { missing, name, read, isId, cursor } = history;
  const { accept, 'last-event-id': seen } = request.headers;
  const afterId = cursor === undefined ? null : readHistoryCursor(cursor, isId);
  if (wantsStream(accept)) {
    // An EventSource reconnects with the same URL, so Last-Event-ID overrides the cursor.
    const lastId = typeof seen === 'string' ? readLastEventId(seen, isId) : afterId;
    return await streams.answer(request, reply, history, lastId);
  }
  const { entries, nextId } = (await read(afterId)) ?? missing();
  if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
  return reply.send({ [name]: entries, nextCursor: nextId });
}
