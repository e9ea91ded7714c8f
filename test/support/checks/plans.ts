import { Client, escapeLiteral } from 'pg';
import {
  allStatements,
  type Queryable,
  SESSION,
  type Statement,
} from '../../../src/store/connection/db.ts';
import { plainQueryable } from '../plain-queryable.ts';

/** A node of a plan, as `explain (format json)` prints it; only the fields that tests need. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** The first column of an index that says more than the shard, and the table it belongs to. */
interface Index {
  table: string;
  column: string;
}

const INDEXES = `
  select i.indexrelid::regclass::name as name, t.relname as table, a.attname as column
  from pg_index i join pg_class t on t.oid = i.indrelid
  cross join lateral (
    select attname from pg_attribute
    where attrelid = i.indexrelid and attname <> 'shard' order by attnum limit 1
  ) a
  where t.relnamespace = 'longshore'::regnamespace`;

/** A connection like the store's own, with every statement prepared under its name. */
export class Planner {
  readonly client: Client;
  readonly #indexes = new Map<string, Index>();

  constructor(url: string, settings = '') {
    const options = `${SESSION} -c search_path=longshore ${settings}`;
    this.client = new Client({ connectionString: url, options });
  }

  async open(): Promise<void> {
    await this.client.connect();
    for (const { name, text } of allStatements) {
      await this.client.query(`prepare ${name} as ${text}`);
    }
    const { rows } = await this.client.query<Index & { name: string }>(INDEXES);
    for (const row of rows) this.#indexes.set(row.name, { ...row, table: tableOf(row.table) });
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** The generic plan. It does not depend on the values, so they are all null. */
  async explain({ name }: Statement<unknown>): Promise<PlanNode[]> {
    const { rows } = await this.client.query<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = $1`,
      [name],
    );
    const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null');
    return await this.#plan(`explain (format json) execute ${call(name, nulls)}`);
  }

  /**
   * What the product's functions can run on to be measured: each statement is executed and undone three
   * times, and the plan of the execution with the fewest pages is recorded. It answers with no rows.
   *
   * A function plans its statements while it runs. Other tests change the catalog of the same server; when
   * that empties the caches of this connection, the next execution reads some 2,000 pages of the catalog.
   */
  measuring(record: (name: string, nodes: PlanNode[]) => void): Queryable {
    return {
      ...plainQueryable(),
      run: async ({ name }, values = []) => {
        const execute = `execute ${call(name, values.map(literal))}`;
        const tries: PlanNode[][] = [];
        while (tries.length < 3) {
          await this.client.query('begin');
          tries.push(await this.#plan(`explain (analyze, buffers, format json) ${execute}`));
          await this.client.query('rollback');
        }
        const [best = []] = tries.sort((a, b) => buffersOf(a) - buffersOf(b));
        record(name, best);
        return [];
      },
    };
  }

  /**
   * The scans that read a whole table: a Seq Scan, or one of an index of which only the shard is
   * known, or only columns behind the one that it is sorted by.
   */
  wholeReads(nodes: readonly PlanNode[], tables: readonly string[]): string[] {
    return nodes.flatMap((node) => {
      const { 'Node Type': type, 'Index Name': name = '', 'Index Cond': condition = '' } = node;
      const table = tableOf(node['Relation Name'] ?? '');
      if (type === 'Seq Scan' && tables.includes(table)) return [`Seq Scan on ${table}`];
      const index = this.#indexes.get(name);
      if (!index || !tables.includes(index.table)) return [];
      // A comparison with a constant in another collation has a cast.
      const names = [`(${index.column} `, `(${index.column})::text `];
      const narrow = names.some((one) => condition.includes(one));
      return narrow ? [] : [`${type} of all of ${tableOf(name)} where ${condition}`];
    });
  }

  async #plan(text: string): Promise<PlanNode[]> {
    const { rows } = await this.client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(text);
    return rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => [...flatten(Plan)]) ?? [];
  }
}

/** The rows that the scans of these tables read, including those they filtered out. */
export function rowsReadFrom(nodes: readonly PlanNode[], tables: readonly string[]): number {
  const scans = nodes.filter(
    (node) =>
      node['Node Type'] !== 'ModifyTable' && tables.includes(tableOf(node['Relation Name'] ?? '')),
  );
  return scans.reduce((sum, node) => {
    const { 'Actual Rows': rows = 0, 'Actual Loops': loops = 0 } = node;
    const { 'Rows Removed by Filter': filtered = 0 } = node;
    const { 'Rows Removed by Index Recheck': rechecked = 0 } = node;
    return sum + (rows + filtered + rechecked) * loops;
  }, 0);
}

/** The pages read in all; the root includes its children. */
export function buffersOf([root]: readonly PlanNode[]): number {
  return (root?.['Shared Hit Blocks'] ?? 0) + (root?.['Shared Read Blocks'] ?? 0);
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  return escapeLiteral(Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value));
}

function element(value: unknown): string {
  return value === null ? 'NULL' : `"${String(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function call(name: string, values: readonly string[]): string {
  return values.length === 0 ? name : `${name}(${values.join(', ')})`;
}

function* flatten(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* flatten(child);
}

/** The table that a partition belongs to; any other table is its own. */
function tableOf(relation: string): string {
  return relation.replace(/_(old|p\d{8})/, '');
}
