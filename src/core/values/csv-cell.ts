export interface CsvCellOptions {
  separator: string;
  /**
   * Texts that a spreadsheet would run as a formula get an apostrophe in front: those that begin
   * with = + - @, a tab or a line end and are no number.
   */
  escapeFormulas: boolean;
}

const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = /^[+-]?(\d+([.,]\d+)*|\d*\.\d+)(e[+-]?\d+)?%?$/i;

/** Writes cells as in RFC 4180: with quotes where they are needed. */
export function csvCells({ separator, escapeFormulas }: CsvCellOptions): (text: string) => string {
  const special = new RegExp(`[${separator}"\r\n]`);
  return (text) => {
    const isFormula = escapeFormulas && FORMULA.test(text) && !NUMBER.test(text);
    const safe = isFormula ? `'${text}` : text;
    return special.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
}
