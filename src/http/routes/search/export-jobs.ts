import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EXPORT_ROWS_MAX, exportHead, exportLine } from '../../../core/search/job-export.ts';
import {
  type ExportQuery,
  ExportQuery as Query,
} from '../../../protocol/requests/search/export-query.ts';
import { PAGE_MAX } from '../../../protocol/requests/job-query.ts';
import { listJobs } from '../../../store/read/list-jobs.ts';
import type { Redaction } from '../../access/redaction.ts';
import { tenantOf } from '../../access/tenant.ts';
import type { HttpDeps } from '../../deps.ts';
import type { SearchSlots } from '../../edge/search-slots.ts';
import { refusals } from '../../openapi.ts';
import { criteriaOf } from '../read-jobs.ts';

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson' } as const;

const FILES: Record<string, { schema: z.ZodType }> = {
  'text/csv': { schema: z.string() },
  'application/x-ndjson': { schema: z.string() },
};

const EXPORT = {
  operationId: 'exportJobs',
  tags: ['jobs'],
  summary: 'Export jobs as CSV or JSONL',
  description:
    `All matching jobs as a file, up to ${EXPORT_ROWS_MAX} of them. It is made page by page while it ` +
    'is sent. When it has as many jobs as the limit, there may be more: send the id of the last job ' +
    'as after. Secrets are redacted. In CSV, texts that a spreadsheet would run as a formula begin ' +
    'with an apostrophe.',
  querystring: Query,
  response: {
    200: {
      description: 'The file.',
      content: FILES,
    },
    ...refusals('UNAVAILABLE'),
  },
};

/** The signal aborts when the process leaves: a caller continues elsewhere with `after`. */
export function exportRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  redaction: Redaction,
  searches: SearchSlots,
  leaving: AbortSignal,
): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/v1/jobs/export',
      { schema: EXPORT, config: { access: 'jobs:read' } },
      async (request, reply) => {
        const { query } = request;
        const { format } = query;
        const tenant = tenantOf(request);
        const pages = pagesOf(query, async (afterId, limit) => {
          leaving.throwIfAborted();
          const newestFirst = query.sort === '-createdAt';
          const filter = {
            ...criteriaOf(query),
            ...endOf(query),
            tenant,
            newestFirst,
            afterId,
            limit,
          };
          const { jobs, nextId } = await searches.run(tenant, async () => listJobs(db, filter));
          const shown = await redaction.found(request, jobs, query.q);
          return {
            text: shown.map((job) => exportLine(format, job)).join(''),
            count: shown.length,
            nextId,
          };
        });
        // The first page is read before the answer begins, so that an error is still an answer.
        const first = await pages.next();
        const parts = async function* () {
          yield exportHead(format);
          if (first.value) yield first.value;
          yield* pages;
        };
        // A search that finds nothing for a while sends nothing for as long.
        if ('setTimeout' in request.raw.socket) request.raw.socket.setTimeout(0);
        void reply
          .type(TYPES[format])
          .header('content-disposition', `attachment; filename="jobs.${format}"`);
        return reply.send(Readable.from(parts(), { objectMode: false }));
      },
    );
}

/** Criteria that a list does not have. */
function endOf({ fingerprint, finishedAfter, finishedBefore }: ExportQuery) {
  return {
    fingerprint: fingerprint ?? null,
    finishedAfter: finishedAfter ?? null,
    finishedBefore: finishedBefore ?? null,
  };
}

interface Page {
  text: string;
  count: number;
  nextId: string | null;
}

async function* pagesOf(
  { after, limit }: ExportQuery,
  read: (afterId: string | null, limit: number) => Promise<Page>,
): AsyncGenerator<string, undefined> {
  let afterId = after ?? null;
  let left = limit;
  do {
    const { text, count, nextId } = await read(afterId, Math.min(left, PAGE_MAX));
    if (text !== '') yield text;
    afterId = nextId;
    left -= count;
  } while (afterId !== null && left > 0);
  return undefined;
}
