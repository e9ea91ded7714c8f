import { expect, it } from 'vitest';
import { callSites, type Column, rowTypeDifferences, siteOf } from './support/checks/row-types.ts';

/** A store of its own, beside the real sources. */
const SOURCE = `import { statement, type Statement } from './connection/db.ts';
import type { JobState } from '../core/job/job.ts';

interface Row {
  id: string;
  state: JobState;
  at: Date | null;
  error: { message: string } | null;
}

export const FIND = statement<Row>('find_it', 'select …');

const list = (order: string): Statement<Omit<Row, 'error'>> => statement(\`list_\${order}\`, 'select …');
export const LISTS = [list('asc'), list('desc')];

export const MARK = statement<{
  n: number;
}>('mark_it', 'update …');
`;

const column = (name: string, kind: Column['kind'], nullable: boolean | null = false): Column => ({
  name,
  kind,
  nullable,
});

const ROW = [column('id', 'string'), column('state', 'string'), column('at', 'Date', true)];
const RIGHT = {
  find_it: [...ROW, column('error', 'json', true)],
  list_asc: ROW,
  list_desc: ROW,
  mark_it: [column('n', 'number', null)],
};

const differences = async (columns: Partial<Record<keyof typeof RIGHT, Column[]>>) =>
  await rowTypeDifferences(
    Object.entries({ ...RIGHT, ...columns }).map(([name, columns]) => ({ name, columns })),
    [{ path: 'src/store/made-up.ts', source: SOURCE }],
    'row-types-made-up',
  );

it('finds the row type of every statement in the source', () => {
  const sites = callSites({ path: 'made-up.ts', source: SOURCE });
  expect(sites.map(({ rowType }) => rowType.replaceAll(/\s+/g, ' '))).toEqual([
    'Row',
    "NonNullable<(Statement<Omit<Row, 'error'>>)['row']>",
    '{ n: number; }',
  ]);
  expect(siteOf('list_asc', sites)).toBe(sites[1]);
  expect(siteOf('mark_it', sites)).toBe(sites[2]);
  expect(() => siteOf('unknown', sites)).toThrow('no source file makes the statement unknown');
  const untyped = { path: 'a.ts', source: `const A = statement('a', 'b');` };
  expect(() => callSites(untyped)).toThrow('a.ts: a statement without a row type');
});

it('accepts types that agree, and names what differs', { timeout: 180_000 }, async () => {
  expect(await differences({})).toEqual([]);
  const found = await differences({
    // A column was renamed, another one has become a number and nullable.
    find_it: [column('id', 'number', true), ...ROW.slice(1), column('failure', 'json', true)],
    // JSON has no dates.
    list_desc: [...ROW.slice(0, 2), column('at', 'json', true)],
    mark_it: [column('n', 'string')],
  });
  expect(found.sort()).toEqual([
    'find_it: error is in the type, not in the SQL',
    'find_it: failure is in the SQL, not in the type',
    'find_it: id can be null in the SQL',
    'find_it: id is number in the SQL, string in the type',
    'list_desc: at is json in the SQL, Date in the type',
    'mark_it: n is string in the SQL, number in the type',
  ]);
});
