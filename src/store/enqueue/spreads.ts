import {
  SPREAD_DELAY_MS,
  SPREAD_STEPS_KEPT_MS,
  type SpreadStep,
} from '../../core/shards/spread.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * Over how many shards definitions are spread, and since when (`core/shards/spread.ts`). A change takes
 * two transactions: the first asks for it, and the second, which any process makes that sees that, gives
 * it the time from which it is in force. So a process that does not see it has read the table, and the
 * clock with it, before that time was chosen.
 */

/** A spread that a definition should have. */
export interface AskedSpread {
  key: string;
  spread: number;
}

const DIFFERS = `coalesce(s.asked, (s.steps -> -1 ->> 'spread')::int, 1)`;

const FIND_DIFFERENT = statement<AskedSpread>(
  'find_different_spreads',
  `select i.key, i.spread from json_to_recordset($1::json) as i(key text, spread int)
   left join longshore.spread s on s.key = i.key
   where i.spread <> ${DIFFERS}`,
);

const ASK = statement<{ key: string }>(
  'ask_spreads',
  `insert into longshore.spread as s (key, asked)
   select i.key, i.spread from json_to_recordset($1::json) as i(key text, spread int)
   order by i.key
   on conflict (key) do update set asked = excluded.asked where excluded.asked <> ${DIFFERS}
   returning s.key`,
);

/** Steps that a valid request id can no longer need are dropped. */
const FIX = statement<{ key: string }>(
  'fix_spreads',
  `update longshore.spread s set asked = null, steps = (
     select coalesce(jsonb_agg(o.step order by (o.step ->> 'fromMs')::float8), '[]')
     from jsonb_array_elements(s.steps) as o(step)
     where not exists (
       select 1 from jsonb_array_elements(s.steps) as later(step)
       where (later.step ->> 'fromMs')::float8 > (o.step ->> 'fromMs')::float8
         and (later.step ->> 'fromMs')::float8
           < extract(epoch from clock_timestamp()) * 1000 - ${SPREAD_STEPS_KEPT_MS})
   ) || jsonb_build_object('spread', s.asked, 'fromMs', greatest(
       (s.steps -> -1 ->> 'fromMs')::float8 + 1,
       floor(extract(epoch from clock_timestamp()) * 1000) + ${SPREAD_DELAY_MS}))
   where s.asked is not null
   returning s.key`,
);

/** The clock is that of the beginning of the transaction, before what it can see. */
const READ = statement<{
  atMs: number;
  key: string | null;
  steps: SpreadStep[];
  asked: number | null;
}>(
  'read_spreads',
  `select (extract(epoch from now()) * 1000)::float8 as "atMs", s.key, s.steps, s.asked
   from (select) as one left join longshore.spread s on true`,
);

export async function findDifferentSpreads(
  db: Queryable,
  asked: readonly AskedSpread[],
): Promise<AskedSpread[]> {
  return await db.run(FIND_DIFFERENT, [JSON.stringify(asked)]);
}

/** Asks for changes; `fixSpreads` makes them after the commit. */
export async function askSpreads(tx: Queryable, asked: readonly AskedSpread[]): Promise<void> {
  const different = await findDifferentSpreads(tx, asked);
  if (different.length > 0) await tx.run(ASK, [JSON.stringify(different)]);
}

/** Not in the transaction that asked. */
export async function fixSpreads(db: Queryable): Promise<void> {
  await db.run(FIX);
}

export interface Spreads {
  /** When it was read, by the clock of the database: changes that were asked for since are missing. */
  atMs: number;
  byKey: ReadonlyMap<string, readonly SpreadStep[]>;
}

export async function readSpreads(db: Queryable): Promise<Spreads> {
  for (;;) {
    const rows = await db.run(READ);
    if (rows.some(({ asked }) => asked !== null)) {
      await fixSpreads(db);
      continue;
    }
    const byKey = new Map(rows.flatMap(({ key, steps }) => (key === null ? [] : [[key, steps]])));
    return { atMs: rows[0]?.atMs ?? 0, byKey };
  }
}
