import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  report,
  type ReportOptions,
  type ReportParams,
} from '../../../src/batteries/report/report.ts';
import type { ReportSource } from '../../../src/batteries/report/source.ts';
import { runJob } from '../../../src/testing/run-job.ts';
import { scratch } from '../../support/artifacts/scratch.ts';
import { pdfPages } from '../../support/files/pdf-text.ts';
import { xlsxRows } from '../../support/files/xlsx-rows.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
let storage: string;

beforeEach(async () => {
  storage = await scratch();
  vi.stubEnv('APP_DATABASE_URL', database.url);
  await database.sql(`
    create schema shop;
    create table shop.sale (id int primary key, product text, amount numeric(9,2), sold_at timestamptz, paid boolean);
    insert into shop.sale
      select n, 'rope ' || n, n * 1.5, '2030-01-31 23:00Z'::timestamptz + make_interval(hours => n), n % 2 = 0
      from generate_series(1, 2500) n;
    create function shop.write() returns int language plpgsql as
      $$ begin delete from shop.sale; return 1; end $$`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await database.sql('drop schema shop cascade');
});

const SALES: ReportSource = {
  title: 'Sales from {{first}}',
  sql: 'select id, product, amount, sold_at, paid from shop.sale where id >= $1 order by id',
  values: { first: z.int() },
  columns: { product: { title: 'What' } },
};
const job = (more: Partial<ReportOptions> = {}) =>
  report({ database: 'APP_DATABASE_URL', storage, reports: { sales: SALES }, ...more });
const bySql = (sql: string, more: Partial<ReportOptions> = {}) =>
  job({ reports: { it: { title: 'It', sql } }, ...more });
const rowsLeft = async () =>
  (await database.sql<{ n: number }>('select count(*)::int as n from shop.sale'))[0]?.n;
/** The backends of reports that still run. */
const backends = async () =>
  await database.sql<{ query: string }>(
    `select query from pg_stat_activity
     where application_name = 'longshore report' and datname = current_database() and state = 'active'`,
  );

async function stored(params: ReportParams, definition = job()) {
  const { result, error } = await runJob(definition, params);
  if (!result) throw new Error(error?.message);
  return { ...result, content: await readFile(join(storage, result.name)) };
}

describe('a report of a query', () => {
  it('is stored as CSV with all rows, in the order of the query', async () => {
    const first = 1;
    const { content, ...result } = await stored({ report: 'sales', values: { first } });
    const rows: string[][] = parse(content);
    expect(rows).toHaveLength(2_501);
    expect(rows[0]).toEqual(['id', 'What', 'amount', 'sold_at', 'paid']);
    expect(rows[1]).toEqual(['1', 'rope 1', '1.50', '2030-02-01 00:00:00+00', 'false']);
    expect(rows[2_500]?.slice(0, 2)).toEqual(['2500', 'rope 2500']);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const day = result.expiresAt.slice(0, 10);
    expect(result).toMatchObject({
      report: 'sales',
      title: 'Sales from 1',
      format: 'csv',
      rows: 2_500,
      truncated: false,
      sha256,
      bytes: content.length,
      name: `default.${day}.${sha256}`,
      file: 'sales.csv',
      link: null,
      sent: null,
    });
    expect(await readdir(storage)).toEqual([result.name]);
  });

  it('is stored as XLSX, with times in its zone', async () => {
    const params = { report: 'sales', format: 'xlsx', values: { first: 2_499 } } as const;
    const { content, rows } = await stored(params, job({ timeZone: 'Asia/Tokyo' }));
    expect(rows).toBe(2);
    const at = new Date('2030-05-16T11:00:00Z');
    expect((await xlsxRows(content))[1]).toEqual([2_499, 'rope 2499', 3_748.5, at, false]);
  });

  it('is stored as PDF', async () => {
    const params = { report: 'sales', format: 'pdf', values: { first: 2_401 } } as const;
    const { content, file } = await stored(params);
    const pages = pdfPages(content);
    expect([file, pages.length]).toEqual(['sales.pdf', 2]);
    expect(pages[0]?.[0]).toBe('Sales from 2401');
    expect(pages.flat()).toContain('rope 2500');
  });

  it('tells how far it is', async () => {
    const run = await runJob(job(), { report: 'sales', values: { first: 1 } });
    expect(run.progress.at(-1)).toEqual({ fraction: 0.95, message: '2500 rows written' });
    expect(run.logs.map(({ message }) => message)).toEqual([
      expect.stringContaining('report sales stored'),
    ]);
  });

  it('has headings also without rows', async () => {
    const { content, rows } = await stored({ report: 'sales', values: { first: 9_999 } });
    expect([rows, content.toString()]).toEqual([0, 'id,What,amount,sold_at,paid\r\n']);
  });

  it('reads rows of any width', async () => {
    const wide = bySql(`select n, repeat('x', 300000) as x from generate_series(1, 120) n`);
    const { rows, bytes } = await stored({ report: 'it' }, wide);
    expect([rows, bytes > 36_000_000]).toEqual([120, true]);
  });
});

describe('a query', () => {
  it.each([
    [`delete from shop.sale returning id`, 'must be one SELECT'],
    [`with gone as (delete from shop.sale returning id) select * from gone`, 'must be one SELECT'],
    ['select shop.write()', 'must only read: cannot execute DELETE in a read-only transaction'],
    ['select 1; delete from shop.sale', 'must be one SELECT'],
    ['select 1; commit; delete from shop.sale', 'must be one SELECT'],
    ['select id from shop.sale for update', 'must only read'],
    ['select nothing from shop.sale', 'column "nothing" does not exist'],
    [`copy shop.sale to '/tmp/x'`, 'must be one SELECT'],
  ])('%s is refused without a retry', async (sql, words) => {
    const run = await runJob(bySql(sql), { report: 'it' });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'NON_RETRYABLE' } });
    expect(run.error?.message).toContain(words);
    expect([await rowsLeft(), await readdir(storage)]).toEqual([2_500, []]);
  });

  it('takes values as values, and only those that it declares', async () => {
    const sql = 'select product from shop.sale where product = $1';
    const definition = job({
      reports: { it: { title: 'It', sql, values: { product: z.string() } } },
    });
    const run = async (values: Record<string, unknown>) =>
      await runJob(definition, { report: 'it', values });
    expect((await run({ product: 'rope 7' })).result?.rows).toBe(1);
    expect((await run({ product: `' or true; --` })).result?.rows).toBe(0);
    expect((await run({ product: 7 })).error?.message).toContain('values.product: ');
    expect((await run({ prodct: 'x' })).error?.message).toContain('(known: product)');
    const unknown = await runJob(job(), { report: 'sale' });
    expect(unknown.error).toMatchObject({ code: 'PAYLOAD_INVALID' });
    expect(unknown.error?.message).toContain('did you mean "sales"?');
  });

  it('with too many rows fails, or is cut where its definition says so', async () => {
    const params = { report: 'sales', values: { first: 1 } };
    const run = await runJob(job({ maxRows: 2_000 }), params);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'NON_RETRYABLE' } });
    expect(run.error?.message).toContain('more than 2000 rows, the limit for csv');
    expect(await readdir(storage)).toEqual([]);
    const cut = await stored(params, job({ maxRows: 2_000, tooManyRows: 'cut' }));
    expect(cut).toMatchObject({ rows: 2_000, truncated: true });
    expect(parse(cut.content)).toHaveLength(2_001);
    const exact = await stored(params, job({ maxRows: 2_500 }));
    expect(exact).toMatchObject({ rows: 2_500, truncated: false });
    const many = bySql('select n from generate_series(1, 10001) n');
    const pdf = await runJob(many, { report: 'it', format: 'pdf' });
    expect(pdf.error?.message).toContain('more than 10000 rows, the limit for pdf');
  });

  it('that takes too long is cancelled in the database, and tried again', async () => {
    const run = await runJob(bySql('select pg_sleep(600)', { querySeconds: 1 }), { report: 'it' });
    expect(run).toMatchObject({ status: 'retrying', nextInMs: 30_000, error: { code: 'TIMEOUT' } });
    expect(run.error?.message).toContain('took longer than 1 s');
    await until('its backend is gone', async () => (await backends()).length === 0);
  });

  it('is cancelled in the database with its job', async () => {
    const cancel = new AbortController();
    // It has the first rows, and the job is in the middle of its file.
    const slow = `select n, case when n > 150 then pg_sleep(600)::text end from generate_series(1, 500) n`;
    const running = runJob(bySql(slow), { report: 'it' }, { signal: cancel.signal });
    await until('it reads on', async () =>
      (await backends()).some(({ query }) => query.startsWith('fetch') && !query.includes('100 ')),
    );
    cancel.abort();
    expect((await running).status).toBe('cancelled');
    await until('its backend is gone', async () => (await backends()).length === 0);
    expect(await readdir(storage)).toEqual([]);
  });

  it('that breaks in the middle leaves no file', async () => {
    const broken = 'select 1 / (1500 - n) from generate_series(1, 2000) n';
    const run = await runJob(bySql(broken), { report: 'it', format: 'xlsx' });
    expect(run.error?.message).toContain('division by zero');
    expect(await readdir(storage)).toEqual([]);
  });

  it('works for a role that can only read', async () => {
    const reader = `reader_${randomBytes(6).toString('hex')}`;
    await database.sql(`create role ${reader} login password 'x'`);
    await database.sql(`grant usage on schema shop to ${reader}`);
    try {
      const url = new URL(database.url);
      [url.username, url.password] = [reader, 'x'];
      vi.stubEnv('APP_DATABASE_URL', url.href);
      const params = { report: 'sales', values: { first: 2_500 } };
      const without = await runJob(job(), params);
      expect(without.error).toMatchObject({ code: 'NON_RETRYABLE' });
      expect(without.error?.message).toContain('permission denied for table sale');
      await database.sql(`grant select on shop.sale to ${reader}`);
      expect((await runJob(job(), params)).result).toMatchObject({ rows: 1 });
    } finally {
      await database.sql(`revoke all on shop.sale from ${reader}`);
      await database.sql(`revoke all on schema shop from ${reader}`);
      await database.sql(`drop role ${reader}`);
    }
  });
});

describe('a report of a function', () => {
  const columns = { n: {}, at: {}, what: { title: 'What' } };
  const made = (rows: NonNullable<ReportSource['rows']>) =>
    report({
      storage,
      reports: { it: { title: 'It', columns, rows, values: { count: z.int() } } },
    });

  it('has its rows', async () => {
    const definition = made(async function* ({ count }, ctx) {
      const what = await ctx.step('prepare', () => 'made once');
      for (let n = 1; n <= Number(count); n += 1) {
        yield { n, at: new Date(Date.UTC(2030, 0, n)), what: n === 1 ? null : { what } };
      }
    });
    const params = { report: 'it', values: { count: 2 }, format: 'xlsx' } as const;
    const { content, rows } = await stored(params, definition);
    expect(rows).toBe(2);
    expect(await xlsxRows(content)).toEqual([
      ['n', 'at', 'What'],
      [1, new Date('2030-01-01')],
      [2, new Date('2030-01-02'), '{"what":"made once"}'],
    ]);
  });

  it('that fails leaves no file', async () => {
    const definition = made(function* () {
      yield { n: 1 };
      throw new Error('no more');
    });
    const run = await runJob(definition, { report: 'it', values: { count: 1 } });
    expect(run).toMatchObject({ status: 'retrying', error: { message: 'no more' } });
    expect(await readdir(storage)).toEqual([]);
  });
});

it('a definition with a query needs a database', () => {
  expect(() => report({ storage, reports: { sales: SALES } })).toThrow('needs the option database');
});
