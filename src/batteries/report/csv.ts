import { csvCells } from '../../core/values/csv-cell.ts';
import { type Column, type Table, textOf } from './table.ts';

export interface CsvOptions {
  /** Default a comma. Excel expects a semicolon in many countries. */
  separator?: ',' | ';' | '\t' | undefined;
  /** A byte order mark, by which Excel recognises UTF-8. Default false. */
  bom?: boolean | undefined;
  /**
   * Texts that a spreadsheet would run as a formula get an apostrophe in front: those that begin
   * with = + - @, a tab or a line end and are no number. Default true.
   */
  escapeFormulas?: boolean | undefined;
}

/** CSV as in RFC 4180: lines end in CR LF, quotes where they are needed. */
export async function* csvOf(
  { columns, parts }: Table,
  { separator = ',', bom = false, escapeFormulas = true }: CsvOptions = {},
): AsyncGenerator<Uint8Array> {
  const quoted = csvCells({ separator, escapeFormulas });
  const cell = (value: string | null, column: Column) => quoted(textOf(value, column));
  const head = columns.map(({ title }) => quoted(title)).join(separator);
  yield Buffer.from(`${bom ? '\uFEFF' : ''}${head}\r\n`);
  for await (const rows of parts) {
    let text = '';
    for (const row of rows) {
      let line = '';
      for (const [at, column] of columns.entries()) {
        line += (at === 0 ? '' : separator) + cell(row[at] ?? null, column);
      }
      text += `${line}\r\n`;
    }
    yield Buffer.from(text);
  }
}
