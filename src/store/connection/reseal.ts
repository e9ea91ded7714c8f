import { CannotOpen, keyIdsIn } from '../../core/access/sealed.ts';
import { type Db, type Queryable, type Statement, statement } from './db.ts';
import { atCtids, filterOnly, ctidOf } from './planner.ts';
import type { Use } from './vault.ts';

/**
 * Reads everything that may be encrypted, counts the values of each key, and encrypts them again
 * with the current key. Then an old key can be removed from the ring before retention has removed
 * its values.
 *
 * It reads along the primary keys, some hundred rows per statement, so it blocks no other work and
 * can be stopped and restarted at any time. A row is changed only if it is still as it was read; a
 * row that changed meanwhile was sealed with the current key. Two cases are missed: writes of a
 * server that still has the old ring, and a row that retention copies at the same moment. So it is
 * repeated until the count is zero. Rows are found by key and changed by ctid
 * (`store/connection/planner.ts`).
 */
interface SealedColumn {
  table: string;
  /** The key after the shard; a second part, where there is one. */
  id: string;
  part?: { column: string; type: 'int' | 'text'; first: string };
  tenant: string;
  /** The text that contains envelopes, and how it is written back from `u.sealed`. */
  text: string;
  set: string;
  /** What the value is for (`store/connection/vault.ts`), as SQL. Default: a value of a job. */
  use?: string;
  /** Small tables without a shard are read with the first one. */
  shardless?: true;
}

const OF_QUEUE =
  '(select q.tenant from longshore.queue q where q.shard = $1 and q.queue = t.queue)';
const OF_JOB = `(select q.tenant from longshore.queue q where q.shard = $1 and q.queue = (
    select j.queue from longshore.job j where j.shard = $1 and j.id = t.job_id))`;
const OWN = 't.tenant';

const SEALED_COLUMNS: readonly SealedColumn[] = [
  { ...json('job', 'id', 'params'), tenant: OF_QUEUE },
  { ...json('done', 'id', 'result'), tenant: OF_QUEUE },
  {
    ...json('step', 'job_id', 'value'),
    part: { column: 'name', type: 'text', first: '' },
    tenant: OF_JOB,
  },
  {
    ...json('attempt', 'job_id', 'retried'),
    part: { column: 'claim_no', type: 'int', first: '-1' },
    tenant: OF_JOB,
  },
  {
    table: 'stream_chunk',
    id: 'job_id',
    part: { column: 'n', type: 'int', first: '-1' },
    tenant: OF_JOB,
    text: 't.data',
    set: 'data = u.sealed',
  },
  { ...json('schedule', 'id', 'params'), tenant: OWN },
  { ...text('webhook', 'secret'), tenant: OWN, use: `'secret'` },
  { ...text('webhook', 'previous_secret'), tenant: OWN, use: `'secret'` },
  { ...text('alert_route', 'url'), tenant: OWN, use: `'secret'` },
  { ...text('secret', 'value'), tenant: OWN, use: `'env ' || t.key || ' ' || t.name` },
  {
    ...text('bulk', 'how'),
    tenant: OWN,
    text: `t.how ->> 'paramsJson'`,
    set: `how = jsonb_set(t.how, '{paramsJson}', to_jsonb(u.sealed))`,
  },
];

function json(table: string, id: string, column: string) {
  return { table, id, text: `t.${column}::text`, set: `${column} = u.sealed::json` };
}

function text(table: string, column: string) {
  const set = `${column} = u.sealed`;
  return { table, id: 'id', text: `t.${column}`, set, shardless: true as const };
}

interface Row {
  id: string;
  part: string;
  tenant: string;
  use: Use;
  /** Null when it has no envelope. */
  text: string | null;
}

interface ColumnWalk {
  first: Pick<Row, 'id' | 'part'>;
  read: Statement<Row>;
  write: Statement<{ id: string }>;
}

const ZERO_ID = '00000000-0000-0000-0000-000000000000';
const BATCH = 500;

const WALKS: readonly ColumnWalk[] = SEALED_COLUMNS.map((column, n) => {
  const { table, id, part, shardless } = column;
  const name = `${n}_${table}`;
  const home = shardless ? '$1::int = 0' : 't.shard = $1';
  const partColumn = part ? `t.${part.column}` : `''::text`;
  // Citus refuses the ctid of a table that is the same on all nodes.
  const place = shardless ? 'id' : 'ctid';
  const partType = part?.type ?? 'text';
  const key = part ? `t.${id}, ${partColumn}` : `t.${id}`;
  const after = part
    ? `t.${id} >= $2 and (${key}) > ($2::uuid, $3::${partType})`
    : `${key} > $2 and $3::text = ''`;
  const same = `${home} and t.${id} = u.id and ${partColumn} = u.part`;
  return {
    first: { id: ZERO_ID, part: part?.first ?? '' },
    read: statement<Row>(
      `read_sealed_${name}`,
      `select t.${id} as id, ${partColumn}::text as part, ${column.tenant} as tenant,
         ${column.use ?? `'value'`}::text as use,
         case when position('"$sealed":"' in ${column.text}) > 0 then ${column.text} end as text
       from longshore.${table} t where ${home} and ${after} order by ${key} limit $4`,
    ),
    write: statement<{ id: string }>(
      `reseal_${name}`,
      `with u as materialized (
         select t.row_ctid, u.* from json_to_recordset($2::json)
           as u(id uuid, part ${partType}, text text, sealed text)
         cross join lateral (
           select ${ctidOf('t', place)} as row_ctid from longshore.${table} t
           where ${same} and ${column.text} = u.text limit 1 for update
         ) t
       )
       update longshore.${table} t set ${column.set} from u
       where ${atCtids('select row_ctid from u', 't', place)} and ${filterOnly(same)}
       returning u.id`,
    ),
  };
});

/** How many values each key has sealed, and how many were sealed again. */
export interface SealCensus {
  values: Record<string, number>;
  resealed: number;
  /** Values that should be sealed again but that no key opens. */
  unopened: number;
}

export async function sealCensus(db: Db, { reseal }: { reseal: boolean }): Promise<SealCensus> {
  const census: SealCensus = { values: {}, resealed: 0, unopened: 0 };
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const column of WALKS) await walk(db, shard, column, census, reseal);
  }
  return census;
}

async function walk(
  db: Queryable,
  shard: number,
  { first, read, write }: ColumnWalk,
  census: SealCensus,
  reseal: boolean,
): Promise<void> {
  for (let after: Pick<Row, 'id' | 'part'> | undefined = first; after;) {
    const rows: Row[] = await db.run(read, [shard, after.id, after.part, BATCH]);
    const changed = reseal ? await sealAnew(db, shard, write, rows, census) : new Map();
    for (const row of rows) {
      const stored: string | null = changed.get(keyOf(row)) ?? row.text;
      for (const keyId of stored === null ? [] : keyIdsIn(stored)) {
        census.values[keyId] = (census.values[keyId] ?? 0) + 1;
      }
    }
    after = rows.length < BATCH ? undefined : rows.at(-1);
  }
}

/** Returns the new texts, by the keys of their rows. */
async function sealAnew(
  db: Queryable,
  shard: number,
  write: ColumnWalk['write'],
  rows: readonly Row[],
  census: SealCensus,
): Promise<Map<string, string>> {
  const changes = rows.flatMap((row) => {
    if (row.text === null) return [];
    try {
      const sealed = db.vault.reseal(row.tenant, row.text, row.use);
      return sealed === row.text ? [] : [{ ...row, sealed }];
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      census.unopened += 1;
      return [];
    }
  });
  if (changes.length === 0) return new Map();
  census.resealed += (await db.run(write, [shard, JSON.stringify(changes)])).length;
  return new Map(changes.map((change) => [keyOf(change), change.sealed]));
}

function keyOf({ id, part }: Row): string {
  return `${id}\n${part}`;
}
