import pg from 'pg';
import { allStatements, SESSION, type Statement } from '../../src/store/db.ts';

/** A node of a plan, as `explain (format json)` prints it; only what the tests look at. */
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

/** A connection like the store's own, with every statement prepared under its name. */
export class Planner {
  readonly client: pg.Client;

  constructor(url: string) {
    this.client = new pg.Client({ connectionString: url, options: SESSION });
  }

  async open(): Promise<void> {
    await this.client.connect();
    for (const { name, text } of allStatements) {
      await this.client.query(`prepare ${name} as ${text}`);
    }
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /**
   * The generic plan, all partitions included. It does not depend on the values, so they are null.
   */
  async explain({ name }: Statement<unknown>): Promise<PlanNode[]> {
    const { rows } = await this.client.query<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = $1`,
      [name],
    );
    const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null');
    return await this.#plan(`explain (format json) execute ${call(name, nulls)}`);
  }

  /** What one execution really reads. It is undone afterwards. */
  async measure(name: string, values: readonly string[]): Promise<PlanNode[]> {
    await this.client.query('begin');
    try {
      return await this.#plan(
        `explain (analyze, buffers, format json) execute ${call(name, values)}`,
      );
    } finally {
      await this.client.query('rollback');
    }
  }

  async #plan(text: string): Promise<PlanNode[]> {
    const { rows } = await this.client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(text);
    return rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => [...flatten(Plan)]) ?? [];
  }
}

function call(name: string, values: readonly string[]): string {
  return values.length === 0 ? name : `${name}(${values.join(', ')})`;
}

function* flatten(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* flatten(child);
}

/** The table that a partition belongs to; any other table is its own. */
export function tableOf(relation: string): string {
  return relation.replace(/_(old|p\d{8})$/, '');
}
