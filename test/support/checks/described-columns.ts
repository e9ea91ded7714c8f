import type { Client, Submittable } from 'pg';
import type { Column, Kind } from './row-types.ts';

/** The columns that PostgreSQL describes for statements, without executing them. */
export async function describeStatements(
  client: Client,
  statements: readonly { name: string; text: string }[],
): Promise<{ name: string; columns: Column[] }[]> {
  const { rows } = await client.query<{ table: number; number: number; nullable: boolean }>(
    `select attrelid as table, attnum as number, not attnotnull as nullable
     from pg_attribute where attnum > 0`,
  );
  const nullable = new Map(rows.map((row) => [`${row.table}.${row.number}`, row.nullable]));
  const described: { name: string; columns: Column[] }[] = [];
  for (const { name, text } of statements) {
    const fields = await fieldsOf(client, text);
    const columns = fields.map((field) => ({
      name: field.name,
      kind: kindOf(field.dataTypeID),
      nullable: nullable.get(`${field.tableID}.${field.columnID}`) ?? null,
    }));
    described.push({ name, columns });
  }
  return described;
}

interface Field {
  name: string;
  tableID: number;
  columnID: number;
  dataTypeID: number;
}

/** The parts of pg's connection that speak the extended protocol; its types leave them out. */
interface Protocol {
  parse(query: { text: string; types: number[] }): void;
  describe(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Parse and Describe: the statement is analysed and not executed. */
async function fieldsOf(client: Client, text: string): Promise<Field[]> {
  return await new Promise((resolve, reject) => {
    let fields: Field[] = [];
    let failure: Error | null = null;
    const query = {
      submit(connection: Protocol) {
        connection.parse({ text, types: [] });
        connection.describe({ type: 'S', name: '' });
        connection.sync();
      },
      handleRowDescription(message: { fields: Field[] }) {
        fields = message.fields;
      },
      handleError(error: Error) {
        failure = error;
      },
      handleReadyForQuery() {
        if (failure) reject(failure);
        else resolve(fields);
      },
    };
    client.query(query as unknown as Submittable);
  });
}

/** As `store/connection/db.ts` and pg read them. What pg does not know, such as our enums, is text. */
const KINDS: Record<number, Kind> = {
  16: 'boolean',
  17: 'bytes',
  20: 'number', // int8, by our own parser
  21: 'number',
  23: 'number',
  26: 'number', // oid
  700: 'number',
  701: 'number',
  114: 'json',
  3802: 'json',
  1082: 'Date',
  1114: 'Date',
  1184: 'Date',
  1000: 'boolean[]',
  1005: 'number[]',
  1007: 'number[]',
  1021: 'number[]',
  1022: 'number[]',
  199: 'json[]',
  3807: 'json[]',
  1009: 'string[]',
  1016: 'string[]', // int8[]
  2951: 'string[]',
  1115: 'Date[]',
  1182: 'Date[]',
  1185: 'Date[]',
};

function kindOf(oid: number): Kind {
  return KINDS[oid] ?? 'string';
}
