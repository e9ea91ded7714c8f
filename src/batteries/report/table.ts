/** What the cells of a column are; it decides how spreadsheets show and sort them. */
export type CellKind = 'text' | 'number' | 'boolean' | 'date' | 'timestamp';

export interface Column {
  name: string;
  title: string;
  kind: CellKind;
  /** Relative to the other columns. Null: by the format. */
  width: number | null;
}

/** Values as text, as PostgreSQL writes them: exact, and without the time zone of the process. */
export type Row = readonly (string | null)[];

/** A table that is read in parts, so that its size does not matter. */
export interface Table {
  columns: readonly Column[];
  parts: AsyncIterable<readonly Row[]>;
}

/** Settings of one column, by its name. */
export interface ColumnOptions {
  title?: string | undefined;
  kind?: CellKind | undefined;
  width?: number | undefined;
}

export function columnOf(
  name: string,
  kind: CellKind,
  { title = name, kind: own = kind, width }: ColumnOptions = {},
): Column {
  return { name, title, kind: own, width: width ?? null };
}

export function isTrue(value: string): boolean {
  return value === 't' || value === 'true';
}

/** Booleans as words; all else as it is. */
export function textOf(value: string | null, { kind }: Column): string {
  if (value === null) return '';
  return kind === 'boolean' ? String(isTrue(value)) : value;
}
