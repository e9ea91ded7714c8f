import {
  type JobContext,
  NonRetryable,
  type StandardSchema,
} from '../../core/definition/define.ts';
import { render } from '../notification/template.ts';
import { csvOf, type CsvOptions } from './csv.ts';
import { PDF_ROWS_MAX, pdfOf } from './pdf.ts';
import { withQuery } from './query.ts';
import { tableOf } from './rows.ts';
import type { ReportFormat, ReportSource } from './source.ts';
import type { Row, Table } from './table.ts';
import { XLSX_ROWS_MAX, xlsxOf } from './xlsx.ts';

/** What params ask for. */
export interface ReportContent {
  source: ReportSource;
  format: ReportFormat;
  values: Readonly<Record<string, unknown>>;
}

export interface SourceSettings {
  database: string | undefined;
  maxRows: number;
  tooManyRows: 'fail' | 'cut';
  querySeconds: number;
  timeZone: string;
  csv: CsvOptions | undefined;
}

export interface Content {
  title: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Right when the chunks have been read. */
  counted: { rows: number; truncated: boolean };
}

/** Opens the rows of a report, and gives the bytes of its file to `use`. */
export async function withContent<T>(
  { source, format, values: given }: ReportContent,
  settings: SourceSettings,
  ctx: JobContext,
  use: (content: Content) => Promise<T>,
): Promise<T> {
  const values = await checkedValues(source.values ?? {}, given);
  const title = render(source.title, values).replaceAll(/\s+/g, ' ');
  const written = async (table: Table) => {
    const counted = { rows: 0, truncated: false };
    const limited = { ...table, parts: limitedParts(table.parts, format, settings, counted, ctx) };
    return await use({ title, counted, chunks: bytesOf(limited, format, title, source, settings) });
  };
  if (source.rows) {
    const rows = source.rows(values, ctx);
    return await written(await tableOf(rows, source.columns, ctx.abortSignal));
  }
  const { database, querySeconds: seconds, timeZone } = settings;
  if (database === undefined) throw new NonRetryable('report has no database: set the option');
  const { sql, columns = {} } = source;
  const query = { database, sql, values: Object.values(values), columns, seconds, timeZone };
  const warn = (words: string) => ctx.logger.warn(words);
  return await withQuery(query, { signal: ctx.abortSignal, warn }, written);
}

/** The values in the order of their schemas; a value that is left out is null. */
async function checkedValues(
  schemas: Readonly<Record<string, StandardSchema>>,
  given: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schemas, name));
  if (unknown !== undefined) {
    const known = Object.keys(schemas).join(', ') || 'none';
    throw new NonRetryable(`values.${unknown}: the report has no such value (known: ${known})`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const judged = await schema['~standard'].validate(given[name]);
    if (judged.issues) {
      const words = judged.issues.map(({ message }) => message).join('; ');
      throw new NonRetryable(`values.${name}: ${words}`);
    }
    values[name] = judged.value ?? null;
  }
  return values;
}

const FORMAT_ROWS_MAX = { csv: Infinity, xlsx: XLSX_ROWS_MAX, pdf: PDF_ROWS_MAX };

async function* limitedParts(
  parts: AsyncIterable<readonly Row[]>,
  format: ReportFormat,
  { maxRows, tooManyRows }: SourceSettings,
  counted: Content['counted'],
  ctx: JobContext,
): AsyncGenerator<readonly Row[]> {
  const limit = Math.min(maxRows, FORMAT_ROWS_MAX[format]);
  for await (const rows of parts) {
    ctx.abortSignal.throwIfAborted();
    ctx.heartbeat();
    const fitting = rows.slice(0, limit - counted.rows);
    counted.truncated = fitting.length < rows.length;
    if (counted.truncated && tooManyRows === 'fail') {
      throw new NonRetryable(
        `the report has more than ${limit} rows, the limit for ${format}: ask for fewer, raise ` +
          `maxRows, or set tooManyRows to 'cut'`,
      );
    }
    counted.rows += fitting.length;
    if (fitting.length > 0) yield fitting;
    ctx.progress(Math.min(0.9, counted.rows / limit), `${counted.rows} rows`);
    if (counted.truncated) return;
  }
}

function bytesOf(
  table: Table,
  format: ReportFormat,
  title: string,
  { pdf }: ReportSource,
  { csv }: SourceSettings,
): AsyncIterable<Uint8Array> {
  if (format === 'csv') return csvOf(table, csv);
  return format === 'xlsx' ? xlsxOf(table, title) : pdfOf(table, title, pdf);
}
