import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { inTransaction, quoted } from './application-database.ts';

/** Where the data of one kind of person is, in the order in which it is erased. */
export type PersonTables = readonly {
  table: string;
  /** The column with the id of the person. */
  column: string;
  /** Delete the rows, or overwrite columns of rows that must stay, such as those of invoices. */
  erase: 'delete' | { set: Readonly<Record<string, string | null>> };
}[];

/** Says what was erased when, without the id of the person. */
export interface ErasureCertificate {
  person: string;
  /** SHA-256 of the id: a person who knows the id can show that this is about it. */
  idSha256: string;
  at: string;
  tables: { table: string; action: 'deleted' | 'overwritten'; columns?: string[]; rows: number }[];
  /** SHA-256 of all of the above as JSON. */
  sha256: string;
}

/** Erases a person from all declared tables, or from none. A dry run rolls back. */
export async function erase(
  client: Client,
  person: string,
  id: string,
  tables: PersonTables,
  dryRun: boolean,
): Promise<ErasureCertificate> {
  const erased: ErasureCertificate['tables'] = [];
  let at = '';
  const work = async () => {
    for (const { table, column, erase: how } of tables) {
      const where = `where ${quoted(column)}::text = $1`;
      if (how === 'delete') {
        const { rowCount } = await client.query(`delete from ${quoted(table)} ${where}`, [id]);
        erased.push({ table, action: 'deleted', rows: rowCount ?? 0 });
        continue;
      }
      const columns = Object.keys(how.set);
      const sets = columns.map((name, index) => `${quoted(name)} = $${index + 2}`).join(', ');
      const values = [id, ...Object.values(how.set)];
      const { rowCount } = await client.query(
        `update ${quoted(table)} set ${sets} ${where}`,
        values,
      );
      erased.push({ table, action: 'overwritten', columns, rows: rowCount ?? 0 });
    }
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
    at = rows[0]?.now.toISOString() ?? '';
    if (dryRun) throw new DryRun();
  };
  await inTransaction(client, work).catch((error: unknown) => {
    if (!(error instanceof DryRun)) throw error;
  });
  const idSha256 = createHash('sha256').update(id).digest('hex');
  const said = { person, idSha256, at, tables: erased };
  return { ...said, sha256: createHash('sha256').update(JSON.stringify(said)).digest('hex') };
}

class DryRun extends Error {}
