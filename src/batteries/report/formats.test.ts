import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { pdfPages } from '../../../test/support/files/pdf-text.ts';
import { unzipped, xlsxRows } from '../../../test/support/files/xlsx-rows.ts';
import { csvOf } from './csv.ts';
import { pdfOf } from './pdf.ts';
import { type CellKind, columnOf, type Row, type Table } from './table.ts';
import { xlsxOf } from './xlsx.ts';

function tableOf(kinds: Record<string, CellKind>, ...parts: Row[][]): Table {
  const columns = Object.entries(kinds).map(([name, kind]) => columnOf(name, kind));
  return {
    columns,
    parts: (async function* () {
      yield* parts;
    })(),
  };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const HARD = 'a "quoted", text;\r\nof <two> & more lines 😀';

describe('CSV', () => {
  const csv = async (table: Table, options = {}) =>
    (await bytesOf(csvOf(table, options))).toString();

  it('is what a parser of RFC 4180 reads back', async () => {
    const rows = [
      ['1', HARD, 't'],
      [null, ' spaces ', 'f'],
    ];
    const text = await csv(
      tableOf({ n: 'number', 'a, b': 'text', on: 'boolean' }, rows, [['2', '', null]]),
    );
    expect(text.split('\r\n')[0]).toBe('n,"a, b",on');
    expect(parse(text)).toEqual([
      ['n', 'a, b', 'on'],
      ['1', HARD, 'true'],
      ['', ' spaces ', 'false'],
      ['2', '', ''],
    ]);
  });

  it('has other separators and a byte order mark on request', async () => {
    const table = tableOf({ a: 'text', b: 'text' }, [['1,2', 'x;y']]);
    const text = await csv(table, { separator: ';', bom: true });
    expect(text).toBe('\uFEFFa;b\r\n1,2;"x;y"\r\n');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+cmd', "'+cmd"],
    ['-2+3', "'-2+3"],
    ['\tx', "'\tx"],
    ['-17.50', '-17.50'],
    ['+4', '+4'],
    ['-1e6', '-1e6'],
    ['a=1', 'a=1'],
  ])('makes no formula of %j', async (value, written) => {
    expect(await csv(tableOf({ a: 'text' }, [[value]]))).toBe(`a\r\n${written}\r\n`);
    const as = await csv(tableOf({ a: 'text' }, [[value]]), { escapeFormulas: false });
    expect(as).toBe(`a\r\n${value}\r\n`);
  });
});

describe('XLSX', () => {
  it('has numbers, dates and texts that read back as they are', async () => {
    const kinds = { n: 'number', t: 'text', on: 'boolean', d: 'date', at: 'timestamp' } as const;
    const table = tableOf(
      kinds,
      [['-17.25', HARD, 't', '2030-01-31', '2030-01-31 12:30:15.5+00']],
      [
        ['12345678901234567890', '_x0041_', 'f', '0044-03-15 BC', 'infinity'],
        [null, 'a\u0000b', null, null, null],
      ],
    );
    const bytes = await bytesOf(xlsxOf(table, 'Sales [2030]: all/none'));
    expect(await xlsxRows(bytes)).toEqual([
      ['n', 't', 'on', 'd', 'at'],
      [-17.25, HARD, true, new Date('2030-01-31'), new Date('2030-01-31T12:30:15.500Z')],
      ['12345678901234567890', '_x005F_x0041_', false, '0044-03-15 BC', 'infinity'],
      [null, 'a\ufffdb'],
    ]);
    const { 'xl/workbook.xml': book = '' } = await unzipped(bytes);
    expect(book).toContain('name="Sales  2030   all none"');
  });

  it('names columns after Z', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `c${n}`);
    const table = tableOf(Object.fromEntries(names.map((name) => [name, 'text'])), [names]);
    expect(await xlsxRows(await bytesOf(xlsxOf(table, 'x')))).toEqual([names, names]);
  });

  it('has headings without rows', async () => {
    const bytes = await bytesOf(xlsxOf(tableOf({ a: 'text' }), ''));
    expect(await xlsxRows(bytes)).toEqual([['a']]);
  });

  it('passes a failure of the rows on', async () => {
    const parts = (async function* (): AsyncGenerator<Row[]> {
      yield [['1']];
      throw new Error('the query broke');
    })();
    const table = { columns: [columnOf('a', 'text')], parts };
    await expect(bytesOf(xlsxOf(table, 'x'))).rejects.toThrow('the query broke');
  });
});

describe('PDF', () => {
  it('repeats the headings on each page, and numbers pages', async () => {
    const rows = Array.from({ length: 120 }, (_, n) => [`Grüße ${n}`, `${n}.50`]);
    const table = tableOf({ name: 'text', amount: 'number' }, rows.slice(0, 70), rows.slice(70));
    const bytes = await bytesOf(pdfOf(table, 'Sales', { header: 'Shop', footer: 'internal' }));
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    const pages = pdfPages(bytes);
    expect(pages).toHaveLength(3);
    expect(pages[0]?.slice(0, 6)).toEqual(['Sales', 'Shop', 'internal', '1', 'name', 'amount']);
    expect(pages[1]?.slice(0, 5)).toEqual(['Shop', 'internal', '2', 'name', 'amount']);
    expect(pages.flat()).toEqual(expect.arrayContaining(rows.flat()));
  });

  it('cuts what is too long, and replaces what its font does not have', async () => {
    const table = tableOf({ a: 'text', b: 'text' }, [['x'.repeat(5_000), 'snow ☃\nman']]);
    const [page = []] = pdfPages(await bytesOf(pdfOf(table, 'T')));
    const [long = '', odd] = page.slice(-2);
    expect(odd).toBe('snow ? man');
    expect(long).toMatch(/^x{20,200}\x85$/);
  });
});
