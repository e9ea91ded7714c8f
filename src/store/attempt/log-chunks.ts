import type { LogLine } from '../../core/views/history.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { packLines } from './log-data.ts';
import { inLockOrder } from '../connection/lock-order.ts';

/**
 * Consecutive lines of one claim. `n` numbers its chunks; numbers may be missing but never repeat.
 */
export interface LogChunk {
  id: string;
  claim: number;
  attempt: number;
  n: number;
  lines: readonly LogLine[];
}

/**
 * Fenced like every write of a worker. The statement locks the owned row: an end of the claim
 * waits until the lines are committed, or the lines find the claim ended and are not written. So
 * no line is added to an ended history. The bytes of all chunks are sent as one value, which the
 * driver does not escape, and are split here.
 */
const WRITE = statement<{ n: number }>(
  'write_log_chunks',
  `with chunk as materialized (
    select * from unnest(
        $2::uuid[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[])
      as c(id, claim, attempt, n, line_count, first_byte, byte_count)
  ),
  owned as materialized (
    select c.* from chunk c cross join lateral (
      select 1 from longshore.running r
      where r.shard = $1 and r.id = c.id and r.claim_no = c.claim
      limit 1 for share
    ) r
  )
  insert into longshore.log_chunk (shard, job_id, claim_no, n, attempt, line_count, at, data)
  select $1, id, claim, n, attempt, line_count, clock_timestamp(),
    substr($9::bytea, first_byte, byte_count)
  from owned
  on conflict do nothing
  returning n`,
);

/** Writes them in one statement. An existing chunk stays as it is. */
export async function writeLogChunks(
  db: Queryable,
  shard: number,
  chunks: readonly LogChunk[],
): Promise<void> {
  const batch = inLockOrder(chunks.filter(({ lines }) => lines.length > 0));
  if (batch.length === 0) return;
  const packed = await Promise.all(batch.map(async ({ lines }) => await packLines(lines)));
  let firstByte = 1;
  const firstBytes = packed.map(({ length }) => (firstByte += length) - length);
  await db.run(WRITE, [
    shard,
    arrayText(batch.map(({ id }) => id)),
    arrayText(batch.map(({ claim }) => claim)),
    arrayText(batch.map(({ attempt }) => attempt)),
    arrayText(batch.map(({ n }) => n)),
    arrayText(batch.map(({ lines }) => lines.length)),
    arrayText(firstBytes),
    arrayText(packed.map(({ length }) => length)),
    Buffer.concat(packed),
  ]);
}
