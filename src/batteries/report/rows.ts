import type { JobContext } from '../../core/definition/define.ts';
import { type CellKind, type ColumnOptions, columnOf, type Row, type Table } from './table.ts';

/** Rows that code of the team makes, one after the other. */
export type RowsFunction = (
  values: Readonly<Record<string, unknown>>,
  ctx: JobContext,
) => AsyncIterable<Readonly<Record<string, unknown>>> | Iterable<Readonly<Record<string, unknown>>>;

const PART_ROWS = 500;

/** The columns are those that are declared, in their order; a kind is that of the first row. */
export async function tableOf(
  rows: ReturnType<RowsFunction>,
  columns: Readonly<Record<string, ColumnOptions>>,
  signal: AbortSignal,
): Promise<Table> {
  const source = iterated(rows, signal);
  const first = await source.next();
  const sample = first.done ? {} : first.value;
  const names = Object.keys(columns);
  const inOrder = async function* () {
    if (!first.done) yield first.value;
    yield* source;
  };
  return {
    columns: names.map((name) => columnOf(name, kindOf(sample[name]), columns[name])),
    parts: partsOf(inOrder(), names),
  };
}

async function* iterated(rows: ReturnType<RowsFunction>, signal: AbortSignal) {
  for await (const row of rows) {
    signal.throwIfAborted();
    yield row;
  }
}

async function* partsOf(
  rows: AsyncIterable<Readonly<Record<string, unknown>>>,
  names: readonly string[],
): AsyncGenerator<readonly Row[]> {
  let part: Row[] = [];
  for await (const row of rows) {
    part.push(names.map((name) => written(row[name])));
    if (part.length < PART_ROWS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

function kindOf(value: unknown): CellKind {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  return value instanceof Date ? 'timestamp' : 'text';
}

function written(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
