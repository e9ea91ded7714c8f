import { type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import { atCtids, ctidOf, filterOnly, ONCE_PER_ROW } from '../connection/planner.ts';

/** Text that a job streamed. `n` counts the chunks of its claim. `data` is stored as it is. */
export interface StreamChunk {
  id: string;
  claim: number;
  attempt: number;
  n: number;
  data: string;
}

const owned = (chunks: string) => `
  owned as materialized (
    select c.* from ${chunks} c cross join lateral (
      select 1 from longshore.running r
      where r.shard = $1 and r.id = c.id and r.claim_no = c.claim
      limit 1 for share
    ) r
  )`;

/** Fenced like log lines (`store/attempt/log-chunks.ts`). */
const WRITE = statement<{ n: number }>(
  'write_stream_chunks',
  `with chunk as materialized (
    select * from json_to_recordset($2::json)
      as c(id uuid, claim int, attempt int, n int, data text)
  ),
  ${owned('chunk')}
  insert into longshore.stream_chunk (shard, job_id, n, claim_no, attempt, data)
  select $1, id, n, claim, attempt, data from owned
  on conflict do nothing
  returning n`,
);

/** The chunks of earlier claims, before the first one of a later claim. */
const FORGET = statement<{ n: number }>(
  'forget_stream_chunks',
  `with later as materialized (select * from unnest($2::uuid[], $3::int[]) as c(id, claim)),
  ${owned('later')},
  earlier as materialized (
    select x.row_ctid from owned o cross join lateral (
      select ${ctidOf('x')} as row_ctid from longshore.stream_chunk x
      where x.shard = $1 and x.job_id = o.id and ${filterOnly('x.claim_no < o.claim')}
      ${ONCE_PER_ROW}
    ) x
  )
  delete from longshore.stream_chunk s
  where ${atCtids('select row_ctid from earlier', 's')}
    and ${filterOnly(`s.shard = $1 and exists (
      select 1 from owned o where o.id = s.job_id and s.claim_no < o.claim)`)}
  returning s.n`,
);

/** An existing chunk of the same claim stays as it is. */
export async function writeStreamChunks(
  db: Queryable,
  shard: number,
  chunks: readonly StreamChunk[],
): Promise<void> {
  if (chunks.length === 0) return;
  const batch = inLockOrder(chunks);
  const later = batch.filter(({ n, claim }) => n === 0 && claim > 1);
  if (later.length > 0) {
    const ids = later.map(({ id }) => id);
    await db.run(FORGET, [shard, ids, later.map(({ claim }) => claim)]);
  }
  await db.run(WRITE, [shard, JSON.stringify(batch)]);
}
