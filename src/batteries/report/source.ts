import type { StandardSchema } from '../../core/definition/define.ts';
import type { PdfOptions } from './pdf.ts';
import type { RowsFunction } from './rows.ts';
import type { ColumnOptions } from './table.ts';

interface ReportBasics {
  /** May have values as placeholders: `Sales of {{month}}`. */
  title: string;
  /** The values that params give, each with its schema, in the order of $1, $2 and so on. */
  values?: Readonly<Record<string, StandardSchema>> | undefined;
  pdf?: PdfOptions | undefined;
}

/** One SELECT. All its columns are written; `columns` names and formats them. */
export interface QueryReport extends ReportBasics {
  sql: string;
  rows?: undefined;
  columns?: Readonly<Record<string, ColumnOptions>> | undefined;
}

/** Rows of a function. The columns are those of `columns`. */
export interface RowsReport extends ReportBasics {
  rows: RowsFunction;
  sql?: undefined;
  columns: Readonly<Record<string, ColumnOptions>>;
}

export type ReportSource = QueryReport | RowsReport;

export const FORMATS = ['csv', 'xlsx', 'pdf'] as const;
export type ReportFormat = (typeof FORMATS)[number];
