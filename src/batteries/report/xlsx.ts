import { fixedParts, xmlText } from './xlsx-parts.ts';
import { type Column, isTrue, type Row, type Table } from './table.ts';
import { zipOf } from './zip.ts';

/** A sheet has 1,048,576 rows; one has the headings. */
export const XLSX_ROWS_MAX = 1_048_575;
/** Excel opens no cell with more. */
const CELL_LENGTH_MAX = 32_767;
/** Excel rounds numbers with more digits, so these stay text. */
const DIGITS_MAX = 15;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const DAY = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?))?/;
const DAY_MS = 86_400_000;
/** Day 0 of Excel, which takes 1900 for a leap year: later days are right. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30);
/** Indexes of the formats in `styles.xml`. */
const STYLES = { heading: 1, date: 2, timestamp: 3 };

/** A workbook with one sheet: headings that stay visible, numbers and dates as such. */
export function xlsxOf(table: Table, title: string): AsyncGenerator<Uint8Array> {
  const sheet = { name: 'xl/worksheets/sheet1.xml', content: sheetOf(table) };
  return zipOf([...fixedParts(sheetName(title)), sheet]);
}

async function* sheetOf({ columns, parts }: Table): AsyncGenerator<string> {
  const widths = columns.map(({ width, title }, at) => {
    const shown = width ?? Math.max(12, title.length + 2);
    return `<col min="${at + 1}" max="${at + 1}" width="${shown}" customWidth="1"/>`;
  });
  yield `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n` +
    `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
    `<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ` +
    `activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `${widths.length > 0 ? `<cols>${widths.join('')}</cols>` : ''}<sheetData>`;
  const letters = columns.map((_, at) => lettersOf(at));
  yield rowOf(columns.map(({ title }, at) => headingCell(title, `${letters[at]}1`)).join(''), 1);
  let number = 1;
  for await (const rows of parts) {
    let text = '';
    for (const row of rows) {
      number += 1;
      text += rowOf(cellsOf(row, columns, letters, number), number);
    }
    yield text;
  }
  yield '</sheetData></worksheet>';
}

function rowOf(cells: string, number: number): string {
  return `<row r="${number}">${cells}</row>`;
}

function cellsOf(
  row: Row,
  columns: readonly Column[],
  letters: readonly string[],
  number: number,
): string {
  let cells = '';
  for (const [at, column] of columns.entries()) {
    const value = row[at] ?? null;
    if (value !== null) cells += cellOf(value, column, `${letters[at]}${number}`);
  }
  return cells;
}

/** A, B, …, Z, AA. */
function lettersOf(at: number): string {
  const last = String.fromCodePoint(65 + (at % 26));
  return at < 26 ? last : lettersOf(Math.floor(at / 26) - 1) + last;
}

function cellOf(value: string, column: Column, place: string): string {
  switch (column.kind) {
    case 'number':
      return isExact(value) ? `<c r="${place}"><v>${value}</v></c>` : textCell(value, place);
    case 'boolean':
      return `<c r="${place}" t="b"><v>${Number(isTrue(value))}</v></c>`;
    case 'date':
    case 'timestamp': {
      const serial = serialOf(value);
      if (serial === null) return textCell(value, place);
      return `<c r="${place}" s="${STYLES[column.kind]}"><v>${serial}</v></c>`;
    }
    case 'text':
      return textCell(value, place);
  }
}

function headingCell(text: string, place: string): string {
  return textCell(text, place).replace('<c ', `<c s="${STYLES.heading}" `);
}

function textCell(text: string, place: string): string {
  const shown = xmlText(text.slice(0, CELL_LENGTH_MAX));
  return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${shown}</t></is></c>`;
}

function isExact(value: string): boolean {
  return NUMBER.test(value) && value.replaceAll(/e.*$|\D/gi, '').length <= DIGITS_MAX;
}

/** The days since day 0, as the clock on the wall shows it: Excel has no time zones. */
function serialOf(value: string): number | null {
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0'] = DAY.exec(value) ?? [];
  if (year === undefined || value.endsWith('BC') || Number(year) < 1901) return null;
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const timeMs = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1_000;
  return (dayMs - DAY_ZERO_MS + timeMs) / DAY_MS;
}

/** At most 31 characters, without those that Excel refuses. */
function sheetName(title: string): string {
  const allowed = title.replaceAll(/[[\]:*?/\\]/g, ' ').replaceAll(/^'+|'+$/g, '');
  return allowed.slice(0, 31).trim() || 'Report';
}
