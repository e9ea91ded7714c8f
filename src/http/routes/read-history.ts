import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { redactAttempt, redactEvent, redactLog } from '../../core/access/redact-views.ts';
import type { EventView } from '../../core/views/history.ts';
import { JobIdParams } from '../../protocol/answers/job-answer.ts';
import { RevealQuery } from '../../protocol/requests/job-query.ts';
import {
  AttemptsAnswer,
  EventPageAnswer,
  LogPageAnswer,
} from '../../protocol/answers/history-answer.ts';
import { EventQuery, LogQuery } from '../../protocol/requests/history-query.ts';
import { readAttempts } from '../../store/read/read-attempts.ts';
import { isEventId, readEvents } from '../../store/read/read-events.ts';
import { isLogId, readLogs } from '../../store/read/read-logs.ts';
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
  summary: 'See how often a job was tried, and how that went',
  params: JobIdParams,
  querystring: RevealQuery,
  response: {
    200: answer('The attempts, the first one first.', AttemptsAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const LIVE =
  'With Accept: text/event-stream the answer stays open: it begins at the beginning, or after the ' +
  'given cursor, and goes on with what happens. Each entry is a message whose id is its own. A ' +
  'reader that was cut off goes on after the id it sends as Last-Event-ID, as an EventSource does ' +
  'by itself. Comment lines come while nothing else does. When the job is over the last message ' +
  'is an event named end; who asks again after that is answered 204, and an EventSource then ' +
  'stays away. A stream that closes without end is to be opened again.';

const live = {
  headers: z.object({
    'last-event-id': z.string().optional().describe('Of a stream: go on after this id.'),
  }),
  params: JobIdParams,
};

const EVENTS = {
  operationId: 'listEvents',
  tags: ['jobs'],
  summary: 'Read, or follow, what happened to a job',
  description: `The oldest first. ${LIVE} The event of a message is the type of what happened.`,
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
  summary: 'Read, or follow, what a job wrote',
  description: `The oldest line first. ${LIVE} The event of every other message is log.`,
  ...live,
  querystring: LogQuery,
  response: {
    ...pageOrStream('A page of lines.', LogPageAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

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
    return await tell(request, reply, { ...history, isId: isEventId, cursor }, streams);
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
    return await tell(request, reply, { ...history, isId: isLogId, cursor }, streams);
  });
}

interface HistoryRequest<Entry> extends History<Entry> {
  /** What the list of entries is called in a page. */
  name: string;
  isId(text: string): boolean;
  cursor: string | undefined;
}

/** One page, or all of it live: the same question, asked by another Accept. */
async function tell<Entry extends { id: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  history: HistoryRequest<Entry>,
  streams: Streams,
): Promise<FastifyReply> {
  const { missing, name, read, isId, cursor } = history;
  const { accept, 'last-event-id': seen } = request.headers;
  const afterId = cursor === undefined ? null : readHistoryCursor(cursor, isId);
  if (wantsStream(accept)) {
    // An EventSource comes again by the same URL, so what it has seen since goes before the cursor.
    const lastId = typeof seen === 'string' ? readLastEventId(seen, isId) : afterId;
    return await streams.answer(request, reply, history, lastId);
  }
  const { entries, nextId } = (await read(afterId)) ?? missing();
  if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
  return reply.send({ [name]: entries, nextCursor: nextId });
}
