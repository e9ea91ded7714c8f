import { z } from 'zod';
import { openStorage } from '../../artifacts/open-storage.ts';
import { defineJob, type JobContext, NonRetryable } from '../../core/definition/define.ts';
import { reportName } from '../../core/report/report-name.ts';
import { DAY_MS } from '../../core/values/duration.ts';
import { reportLink } from '../../reports/report-link.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Channel } from '../notification/channel.ts';
import { recipients } from '../notification/recipients.ts';
import { named, oneNameOf, type ReadyJobOptions, secretOf } from '../ready-job.ts';
import type { CsvOptions } from './csv.ts';
import { sendingOf, sendReport, type SentReport, type StoredReport } from './send-report.ts';
import { FORMATS, type ReportSource } from './source.ts';
import { type ReportContent, type SourceSettings, withContent } from './content.ts';
import { TemporaryFile } from './temporary-file.ts';

export interface ReportOptions extends ReadyJobOptions {
  /** By the name that params use. */
  reports: Readonly<Record<string, ReportSource>>;
  /** The environment variable with the URL of your database. Its role should only read. */
  database?: string | undefined;
  /** Where files are stored: a folder, or `s3://bucket/prefix`. */
  storage: string;
  /** For links: the address of this server, and the environment variable with its secret. */
  link?: { url: string; secret: string } | undefined;
  /** How long a file is stored and its link works. Default 7. */
  keepDays?: number | undefined;
  /** By the name that params use. */
  channels?: Readonly<Record<string, Channel>> | undefined;
  /** Larger files are sent as links. Default 10. */
  attachmentMb?: number | undefined;
  /** Default 1,000,000. */
  maxRows?: number | undefined;
  /** What happens to a report with more rows. Default fail. */
  tooManyRows?: 'fail' | 'cut' | undefined;
  /** How long a query may take. Default 600. */
  querySeconds?: number | undefined;
  /** In which times are written. Default UTC. */
  timeZone?: string | undefined;
  csv?: CsvOptions | undefined;
  /** Private networks that channels may be in, such as '10.1.0.0/16'. */
  allow?: readonly string[] | undefined;
}

const paramsOf = ({ reports, channels = {} }: ReportOptions) =>
  z
    .strictObject({
      report: oneNameOf('report', reports),
      format: z.enum(FORMATS).default('csv'),
      values: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'Values of the report, by name.' }),
      send: z
        .strictObject({
          channel: oneNameOf('channel', channels),
          to: recipients,
          // Without a default, which the form of the dashboard would send without a channel.
          as: z.enum(['link', 'attachment']).optional().meta({ description: 'Default: link.' }),
        })
        .optional()
        .meta({ description: 'Sends the report when it is stored.' }),
    })
    .meta({ examples: Object.entries(reports).map(exampleOf) });

const exampleOf = ([report, { values = {} }]: [string, ReportSource]) => ({
  report,
  format: 'csv',
  values: Object.fromEntries(Object.keys(values).map((name) => [name, '…'])),
});

export type ReportParams = z.input<ReturnType<typeof paramsOf>>;
type Parsed = z.output<ReturnType<typeof paramsOf>>;

export interface ReportResult extends StoredReport {
  sent: SentReport | null;
}

const SECRET_LENGTH_MIN = 16;

/** Writes the rows of a query or a function into a file, stores it, and sends it. */
export function report(options: ReportOptions) {
  const { reports, database, storage, link, channels = {}, allow, csv, ...more } = options;
  const {
    keepDays = 7,
    attachmentMb = 10,
    maxRows = 1_000_000,
    tooManyRows = 'fail',
    ...rest
  } = more;
  const { querySeconds = 600, timeZone = 'UTC', ...policy } = rest;
  const settings = { database, maxRows, tooManyRows, querySeconds, timeZone, csv };
  const withSql = Object.entries(reports).find(([, { sql }]) => sql !== undefined);
  if (withSql && database === undefined) {
    throw new TypeError(`report: ${withSql[0]} has sql, which needs the option database`);
  }

  const write = async (params: Parsed, ctx: JobContext): Promise<StoredReport> => {
    const { report: key, format, values = {} } = params;
    const source = named('report', key, reports);
    const secret = link ? linkSecret(link.secret) : '';
    const content = { source, format, values };
    const stored = await storeFile(content, { ...settings, storage, keepDays }, ctx);
    const file = `${fileBase(key)}.${format}`;
    const parts = { name: stored.name, file };
    const url = link && reportLink(link.url, parts, new Date(stored.expiresAt), secret);
    return { report: key, format, file, link: url ?? null, ...stored };
  };

  return defineJob({
    key: 'report',
    description: 'Writes a report as CSV, XLSX or PDF, stores it, and sends it.',
    retry: 'report',
    timeoutSeconds: 3_600,
    ...policy,
    params: paramsOf(options),
    run: async (params, ctx): Promise<ReportResult> => {
      const sending = params.send && sendingOf(params.send, channels, link !== undefined);
      // Stored once: a retry of the sending does not run the query again.
      const stored = await ctx.step('write', async () => await write(params, ctx));
      const { name, rows, bytes, format } = stored;
      ctx.logger.info({ name, rows, bytes, format }, 'report %s stored', stored.report);
      if (stored.truncated) ctx.logger.warn('rows are missing: there are more than maxRows');
      const limits = { storage, allow, attachmentBytesMax: attachmentMb * 1_000_000 };
      return { ...stored, sent: sending ? await sendReport(stored, sending, limits, ctx) : null };
    },
  });
}

/** Letters that every system and link takes. */
function fileBase(key: string): string {
  const plain = key.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^[^A-Za-z0-9]+/g, '');
  return plain.slice(0, 100) || 'report';
}

function linkSecret(name: string): string {
  const secret = secretOf(name);
  if (secret.length >= SECRET_LENGTH_MIN) return secret;
  throw new NonRetryable(`${name} must have at least ${SECRET_LENGTH_MIN} characters`);
}

async function storeFile(
  { source, format, values }: ReportContent,
  settings: SourceSettings & { storage: string; keepDays: number },
  ctx: JobContext,
) {
  const storage = await openStorage(settings.storage);
  try {
    return await TemporaryFile.use(async (file) => {
      // The transaction of the query ends before the upload begins.
      const written = await withContent(
        { source, format, values },
        settings,
        ctx,
        async (content) => {
          await file.write(content.chunks);
          return { title: content.title, ...content.counted };
        },
      );
      ctx.abortSignal.throwIfAborted();
      ctx.progress(0.95, `${written.rows} rows written`);
      const expiresAt = new Date(systemClock.now().getTime() + settings.keepDays * DAY_MS);
      const { bytes, sha256 } = file;
      const name = reportName(ctx.tenant, expiresAt, sha256);
      await storage.put(name, bytes, file.read());
      return { ...written, bytes, sha256, name, expiresAt: expiresAt.toISOString() };
    });
  } finally {
    storage.close();
  }
}
