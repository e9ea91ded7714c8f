import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { redactLog } from '../../../core/access/redact-views.ts';
import type { LogView } from '../../../core/views/history.ts';
import { type LogFormat, logFileLine } from '../../../core/logs/log-file.ts';
import { JobIdParams } from '../../../protocol/answers/job-answer.ts';
import { LogDownloadQuery } from '../../../protocol/requests/history-query.ts';
import { type LogPage, readLogs } from '../../../store/read/read-logs.ts';
import type { Redaction } from '../../access/redaction.ts';
import { tenantOf } from '../../access/tenant.ts';
import { noSuchJob, wellFormed } from '../../cursors/job-path.ts';
import type { HttpDeps } from '../../deps.ts';
import { refusals } from '../../openapi.ts';

const TYPES: Record<LogFormat, string> = {
  text: 'text/plain; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};
const ENDINGS: Record<LogFormat, string> = { text: 'log', jsonl: 'jsonl' };
const PAGE_LINES = 1_000;
/** A job with many attempts may have logged more; its attempts can be downloaded one by one. */
const CHARS_MAX = 256 * 1024 * 1024;
const CUT = `… truncated: a download has at most ${CHARS_MAX} characters; choose an attempt`;

const FILE: { schema: z.ZodType } = { schema: z.string().describe('The file.') };
const CONTENT: Record<string, typeof FILE> = { 'text/plain': FILE, 'application/jsonl': FILE };
const DOWNLOAD = {
  operationId: 'downloadLog',
  tags: ['jobs'],
  summary: 'Download the log of a job',
  description:
    'All lines so far, oldest first, as text or as one JSON object per line (as in listLogs). ' +
    'The file is streamed. A connection that breaks off means that the file is incomplete.',
  params: JobIdParams,
  querystring: LogDownloadQuery,
  response: {
    200: { description: 'The log as a file.', content: CONTENT },
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

export function logDownloadRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  redaction: Redaction,
): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/v1/jobs/:jobId/logs/download',
      { schema: DOWNLOAD, config: { access: 'jobs:read' } },
      async (request, reply) => {
        const jobId = wellFormed(request.params.jobId);
        const { attempt = null, format } = request.query;
        const redactor = await redaction.ofHistory(request, jobId);
        const read = async (afterId: string | null) => {
          const asked = { afterId, attempt, limit: PAGE_LINES };
          const page = await readLogs(db, tenantOf(request), jobId, asked);
          return page && { ...page, logs: await redaction.entries(page.logs, redactor, redactLog) };
        };
        // The first page decides about the status; later ones can only break the connection.
        const first = (await read(null)) ?? noSuchJob(jobId);
        const next = async (afterId: string) => {
          await app.permit(request, null);
          return await read(afterId);
        };
        const name = `job-${jobId}${attempt === null ? '' : `-attempt-${attempt}`}`;
        void reply
          // Never shown by a browser: the content is data of users.
          .header('content-disposition', `attachment; filename="${name}.${ENDINGS[format]}"`)
          .type(TYPES[format]);
        return reply.send(Readable.from(parts(first, next, format), { objectMode: false }));
      },
    );
}

type Page = Pick<LogPage, 'nextId'> & { logs: readonly LogView[] };

/** One page in memory at a time; the next is read when the caller has taken this one. */
async function* parts(
  first: Page,
  next: (afterId: string) => Promise<Page | null>,
  format: LogFormat,
): AsyncGenerator<string> {
  let chars = 0;
  for (let page: Page | null = first; page; page = page.nextId ? await next(page.nextId) : null) {
    const last = page.logs.at(-1);
    const text = page.logs.map((line) => logFileLine(line, format)).join('');
    chars += text.length;
    if (chars > CHARS_MAX && last) {
      yield logFileLine({ ...last, level: 'warn', stream: 'system', message: CUT }, format);
      return;
    }
    yield text;
  }
}
