import { CannotOpen, keyIdsIn } from '../../core/access/sealed.ts';
import { type Db, type Queryable, type Statement, statement } from './db.ts';
import { atPlaces, filterOnly, placeOf } from './planner.ts';

/**
 * A walk over everything that may be encrypted, to count by which key, and to encrypt it anew with the
 * one that encrypts now. After that an old key can leave the ring before retention has removed what it
 * was used for.
 *
 * The walk goes along the primary keys, some hundred rows at a time, each batch in a statement of its own:
 * it holds nobody up and may be stopped at any moment and begun again. A row is changed only if it is
 * still what was read; what somebody changed meanwhile was sealed by the current key then. Two things
 * can slip through: what a server that still has the old ring writes behind it, and a row that retention
 * copies in the same moment. So it is begun again until the count says that nothing is left. Rows are
 * found by their key and changed by where they are (`store/change/delete-jobs.ts` says why).
 */
interface Place {
  table: string;
  /** The key below the shard; a second part, where there is one, as it is compared. */
  id: string;
  part?: { column: string; type: 'int' | 'text'; first: string };
  tenant: string;
  /** The text that holds envelopes, and how it is written back from `u.sealed`. */
  text: string;
  set: string;
  /** It is the secret of a webhook (`store/connection/vault.ts`). */
  secret?: true;
  /** Small tables without a shard belong to the walk of the first. */
  shardless?: true;
}

const OF_QUEUE =
  '(select l.tenant from longshore.queue l where l.shard = $1 and l.queue = t.queue)';
const OF_JOB = `(select l.tenant from longshore.queue l where l.shard = $1 and l.queue = (
    select j.queue from longshore.job j where j.shard = $1 and j.id = t.job_id))`;
const OWN = 't.tenant';

const PLACES: readonly Place[] = [
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
  { ...json('schedule', 'id', 'params'), tenant: OWN },
  { ...text('webhook', 'secret'), tenant: OWN, secret: true },
  { ...text('webhook', 'previous_secret'), tenant: OWN, secret: true },
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
  /** Null when there is no envelope in it. */
  text: string | null;
}

interface Stop {
  use: 'value' | 'secret';
  first: Pick<Row, 'id' | 'part'>;
  read: Statement<Row>;
  write: Statement<{ id: string }>;
}

const ZERO_ID = '00000000-0000-0000-0000-000000000000';
const BATCH = 500;

const STOPS: readonly Stop[] = PLACES.map((place, n) => {
  const { table, id, part, shardless } = place;
  const name = `${n}_${table}`;
  const home = shardless ? '$1::int = 0' : 't.shard = $1';
  const partColumn = part ? `t.${part.column}` : `''::text`;
  const partType = part?.type ?? 'text';
  const key = part ? `t.${id}, ${partColumn}` : `t.${id}`;
  const after = part
    ? `t.${id} >= $2 and (${key}) > ($2::uuid, $3::${partType})`
    : `${key} > $2 and $3::text = ''`;
  const same = `${home} and t.${id} = u.id and ${partColumn} = u.part`;
  return {
    use: place.secret ? 'secret' : 'value',
    first: { id: ZERO_ID, part: part?.first ?? '' },
    read: statement<Row>(
      `read_sealed_${name}`,
      `select t.${id} as id, ${partColumn}::text as part, ${place.tenant} as tenant,
         case when position('"$sealed":"' in ${place.text}) > 0 then ${place.text} end as text
       from longshore.${table} t where ${home} and ${after} order by ${key} limit $4`,
    ),
    write: statement<{ id: string }>(
      `reseal_${name}`,
      `with u as materialized (
         select t.place, u.* from json_to_recordset($2::json)
           as u(id uuid, part ${partType}, text text, sealed text)
         cross join lateral (
           select ${placeOf('t')} as place from longshore.${table} t
           where ${same} and ${place.text} = u.text limit 1 for update
         ) t
       )
       update longshore.${table} t set ${place.set} from u
       where ${atPlaces('select place from u', 't')} and ${filterOnly(same)}
       returning u.id`,
    ),
  };
});

/** How many values each key has sealed, and how many were sealed anew. */
export interface SealCensus {
  values: Record<string, number>;
  resealed: number;
  /** They should be sealed anew, and there is no key that opens them. */
  unopened: number;
}

export async function sealCensus(db: Db, { reseal }: { reseal: boolean }): Promise<SealCensus> {
  const census: SealCensus = { values: {}, resealed: 0, unopened: 0 };
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const stop of STOPS) await walk(db, shard, stop, census, reseal);
  }
  return census;
}

async function walk(
  db: Queryable,
  shard: number,
  { first, read, write, use }: Stop,
  census: SealCensus,
  reseal: boolean,
): Promise<void> {
  for (let after: Pick<Row, 'id' | 'part'> | undefined = first; after;) {
    const rows: Row[] = await db.run(read, [shard, after.id, after.part, BATCH]);
    const changed = reseal ? await sealAnew(db, shard, { write, use }, rows, census) : new Map();
    for (const row of rows) {
      const stored: string | null = changed.get(keyOf(row)) ?? row.text;
      for (const keyId of stored === null ? [] : keyIdsIn(stored)) {
        census.values[keyId] = (census.values[keyId] ?? 0) + 1;
      }
    }
    after = rows.length < BATCH ? undefined : rows.at(-1);
  }
}

/** Answers with the new texts, by the keys of their rows. */
async function sealAnew(
  db: Queryable,
  shard: number,
  { write, use }: Pick<Stop, 'write' | 'use'>,
  rows: readonly Row[],
  census: SealCensus,
): Promise<Map<string, string>> {
  const changes = rows.flatMap((row) => {
    if (row.text === null) return [];
    try {
      const sealed = db.vault.reseal(row.tenant, row.text, use);
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
