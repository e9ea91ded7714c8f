import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DEFAULT_TENANT } from '../../../core/access/scope.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import { parseTailId } from '../../../core/logs/tail-id.ts';
import type { Redactor } from '../../../core/access/redact.ts';
import { DefinitionLogsAnswer } from '../../../protocol/answers/history-answer.ts';
import { DefinitionKeyParams } from '../../../protocol/answers/limit-answer.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { DefinitionLogQuery } from '../../../protocol/requests/history-query.ts';
import { listDefinitions } from '../../../store/enqueue/definitions.ts';
import type { Db } from '../../../store/connection/db.ts';
import { LogTail } from '../../../store/read/tail-logs.ts';
import type { Redaction } from '../../access/redaction.ts';
import { tenantOf } from '../../access/tenant.ts';
import { readHistoryCursor, readLastEventId } from '../../cursors/cursor.ts';
import type { HttpDeps } from '../../deps.ts';
import { refusals } from '../../openapi.ts';
import { EVENT_STREAM, wantsStream } from '../../streams/event-stream.ts';
import type { Streams } from '../../streams/streams.ts';

const LOGS = {
  operationId: 'listDefinitionLogs',
  tags: ['definitions'],
  summary: 'List or follow the log of all jobs of a definition',
  description:
    'The newest lines of its running and recent jobs, oldest first. With Accept: ' +
    'text/event-stream the response is a stream that begins with them, or after the cursor, and ' +
    'continues live, without end. The event field of every message is log. A disconnected client ' +
    'resumes after the id that it sends as Last-Event-ID, and may get lines of the last seconds ' +
    'again, with the same ids. With very many short jobs at once, lines of some of them may be ' +
    'left out; the log of a job is complete.',
  headers: z.object({
    'last-event-id': z.string().optional().describe('For streams: continue after this id.'),
  }),
  params: DefinitionKeyParams,
  querystring: DefinitionLogQuery,
  response: {
    200: {
      description: 'The newest lines. With Accept: text/event-stream, a live stream.',
      content: {
        'application/json': { schema: DefinitionLogsAnswer },
        [EVENT_STREAM]: { schema: z.string().describe('Server-sent events.') },
      },
    },
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const isId = (text: string) => parseTailId(text) !== null;

export function definitionLogsRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  streams: Streams,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(
    '/v1/definitions/:key/logs',
    { schema: LOGS, config: { access: 'jobs:read' } },
    async (request, reply) => {
      const { key } = request.params;
      const { limit, cursor } = request.query;
      const tenant = tenantOf(request);
      await requireVisible(db, tenant, key);
      const seen = request.headers['last-event-id'];
      const after = cursor === undefined ? null : readHistoryCursor(cursor, isId);
      const lastId = typeof seen === 'string' ? readLastEventId(seen, isId) : after;
      const afterMs = lastId === null ? null : (parseTailId(lastId)?.storedAtMs ?? null);
      const tail = new LogTail(db, tenant, key, afterMs);
      const redactors = new Map<string, Redactor | null>();
      const read = async () => {
        await app.permit(request, null);
        const { lines, more } = await tail.read(limit);
        const entries = await redaction.lines(tenant, lines, redactors);
        return { entries, nextId: more ? (entries.at(-1)?.id ?? null) : null, ended: false };
      };
      const whole: FastifyReply = reply;
      if (!wantsStream(request.headers.accept)) return whole.send({ logs: (await read()).entries });
      const missing = (): never => {
        throw new Error('a log of a definition has no end');
      };
      return await streams.answer(request, whole, { read, missing, nameOf: () => 'log' }, lastId);
    },
  );
}

/** Names of definitions of other tenants are not suggested. */
async function requireVisible(db: Db, tenant: string, key: string): Promise<void> {
  const visible = (await listDefinitions(db)).filter(
    (one) => one.tenant === DEFAULT_TENANT || one.tenant === tenant,
  );
  const keys = [...new Set(visible.map((one) => one.key))];
  if (!keys.includes(key)) throw new Refusal('NOT_FOUND', unknownName('definition', key, keys));
}
