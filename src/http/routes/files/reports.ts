import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { FILE_NAME, isReportName } from '../../../core/report/report-name.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { ReportParams, ReportQuery } from '../../../protocol/report.ts';
import { REPORTS_PATH } from '../../../reports/report-link.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const DOWNLOAD = {
  operationId: 'downloadReport',
  tags: ['jobs'],
  summary: 'Download a report',
  description:
    'The address is the link in the result of a job. It needs no key: it is signed and expires.',
  params: ReportParams,
  querystring: ReportQuery,
  response: {
    200: answer('The file.', z.string(), 'application/octet-stream'),
    ...refusals('FORBIDDEN', 'NOT_FOUND', 'LINK_EXPIRED', 'STORAGE_UNAVAILABLE'),
  },
};

export function reportsRoutes(app: FastifyInstance, { reports }: HttpDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      `${REPORTS_PATH}/:report/:file`,
      { schema: DOWNLOAD, config: { access: 'public' } },
      async (request, reply) => {
        if (!reports) {
          throw new Refusal('NOT_FOUND', 'this server serves no reports: set LONGSHORE_REPORTS');
        }
        const { report: name, file } = request.params;
        if (!isReportName(name) || !FILE_NAME.test(file)) {
          throw new Refusal('NOT_FOUND', 'this is not a link to a report');
        }
        const gone = new AbortController();
        reply.raw.on('close', () => gone.abort());
        const { signature = '' } = request.query;
        const { bytes, chunks } = await reports.read({ name, file }, signature, gone.signal);
        void reply
          .header('content-length', bytes)
          // Never shown by a browser: the content is data of users.
          .header('content-disposition', `attachment; filename="${file}"`)
          .type('application/octet-stream');
        return reply.send(Readable.from(chunks, { objectMode: false }));
      },
    );
}
