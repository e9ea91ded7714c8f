import type { DefinitionLogView } from '../../core/views/history.ts';
import { tailIdText } from '../../core/logs/tail-id.ts';
import { unpackLines } from '../attempt/log-data.ts';
import { arrayText, type Db, statement } from '../connection/db.ts';
import { databaseNow } from '../schedules/schedules.ts';

interface ChunkRow {
  job_id: string;
  claim: number;
  n: number;
  attempt: number;
  at: Date;
  data: Buffer;
}

/** Jobs of each kind below that one read looks at, for each version of the definition. */
const JOBS_MAX = 50;
const RUNNING_MAX = 200;
const CHUNKS_OF_JOB_MAX = 20;
const CHUNKS_MAX = 200;

/**
 * New chunks of the jobs of some queues. No index has chunks by time, since every line would pay
 * for it. So it looks at the jobs that may have written: those that run, those that were tried, the
 * newest ones, those just before the next job of the queue, and those that wrote before. The cost
 * depends on the bounds above, not on the number of jobs.
 */
const newChunks = (order: 'asc' | 'desc') =>
  `with l as materialized (
       select queue from longshore.queue where shard = $1 and tenant = $2 and key = $3
     ),
     seen as materialized (
       select * from unnest($4::uuid[], $5::int[], $6::int[]) as s(id, claim, n)
     ),
     candidate as (
       (select r.id from longshore.worker a cross join lateral (
          select r.id from longshore.running r
          where r.shard = $1 and r.worker = a.instance
            and r.queue = any (array(select queue from l)) limit ${RUNNING_MAX}
        ) r
        where a.shard = $1 limit ${RUNNING_MAX})
       union
       select j.id from l cross join lateral (
         (select w.id from longshore.waiting w
          where w.shard = $1 and w.queue = l.queue and w.claim_no > 0
          order by w.id desc limit ${JOBS_MAX})
         union all
         (select j.id from longshore.job j where j.shard = $1 and j.queue = l.queue
          order by j.id desc limit ${JOBS_MAX})
         union all
         (select j.id from longshore.job j
          where j.shard = $1 and j.queue = l.queue and j.id < (
            select w.id from longshore.waiting w
            where w.shard = $1 and w.queue = l.queue and w.seq is not null
            order by w.rank, w.seq limit 1)
          order by j.id desc limit ${JOBS_MAX})
       ) j
       union
       select id from seen
     )
     select c.id as job_id, k.claim, k.n, k.attempt, k.at, k.data
     from candidate c
     left join seen s on s.id = c.id
     cross join lateral (
       select k.claim_no as claim, k.n, k.attempt, k.at, k.data from longshore.log_chunk k
       where k.shard = $1 and k.job_id = c.id
         and (k.claim_no, k.n) > (coalesce(s.claim, 0), coalesce(s.n, -1))
         and (s.id is not null or k.at > $7)
       order by k.claim_no ${order}, k.n ${order} limit ${CHUNKS_OF_JOB_MAX}
     ) k
     order by k.at ${order}, c.id, k.n ${order} limit ${CHUNKS_MAX}`;

const NEWEST = statement<ChunkRow>('newest_log_chunks', newChunks('desc'));
const MORE = statement<ChunkRow>('more_log_chunks', newChunks('asc'));

/** How far back a new reader looks, and one that goes on. */
const RECENT_MS = 3_600_000;
const OVERLAP_MS = 5_000;
/** A job that wrote nothing for so long is only found again while it is a candidate. */
const QUIET_MS = 120_000;
const SEEN_MAX = 2_000;

interface Seen {
  claim: number;
  n: number;
  atMs: number;
}

/** The log of the jobs of a definition, for one reader: each read returns what is new. */
export class LogTail {
  readonly #db: Db;
  readonly #tenant: string;
  readonly #key: string;
  readonly #seen = new Map<string, Seen>();
  #sinceMs: number | null;

  /** With `afterMs`, it goes on from then, and may repeat lines of the seconds before. */
  constructor(db: Db, tenant: string, definitionKey: string, afterMs: number | null) {
    this.#db = db;
    this.#tenant = tenant;
    this.#key = definitionKey;
    this.#sinceMs = afterMs === null ? null : afterMs - OVERLAP_MS;
  }

  /** The oldest first. The first read returns the newest `limit` lines. */
  async read(limit: number): Promise<{ lines: DefinitionLogView[]; more: boolean }> {
    const nowMs = (await databaseNow(this.#db)).getTime();
    const first = this.#sinceMs === null;
    const since = new Date(this.#sinceMs ?? nowMs - RECENT_MS);
    const rows: ChunkRow[] = [];
    let more = false;
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const found = await this.#readShard(shard, first, since);
      rows.push(...found);
      more ||= !first && found.length >= CHUNKS_MAX;
    }
    rows.sort((a, b) => a.at.getTime() - b.at.getTime() || a.n - b.n);
    const lines = (await Promise.all(rows.map(linesOf))).flat();
    for (const row of rows) this.#remember(row);
    this.#forget(nowMs);
    // From now on, what a job wrote before it was seen counts only if it is recent.
    this.#sinceMs = Math.max(this.#sinceMs ?? 0, nowMs - (first ? OVERLAP_MS : QUIET_MS / 2));
    return { lines: first ? lines.slice(-limit) : lines, more };
  }

  async #readShard(shard: number, first: boolean, since: Date): Promise<ChunkRow[]> {
    const seen = [...this.#seen];
    return await this.#db.run(first ? NEWEST : MORE, [
      shard,
      this.#tenant,
      this.#key,
      arrayText(seen.map(([id]) => id)),
      arrayText(seen.map(([, { claim }]) => claim)),
      arrayText(seen.map(([, { n }]) => n)),
      since,
    ]);
  }

  #remember({ job_id: id, claim, n, at }: ChunkRow): void {
    const before = this.#seen.get(id);
    const isLater = !before || claim > before.claim || (claim === before.claim && n > before.n);
    this.#seen.delete(id);
    this.#seen.set(id, isLater ? { claim, n, atMs: at.getTime() } : before);
  }

  #forget(nowMs: number): void {
    let tooMany = this.#seen.size - SEEN_MAX;
    for (const [id, { atMs }] of this.#seen) {
      if (tooMany <= 0 && nowMs - atMs < QUIET_MS) continue;
      this.#seen.delete(id);
      tooMany -= 1;
    }
  }
}

async function linesOf(row: ChunkRow): Promise<DefinitionLogView[]> {
  const { job_id: jobId, claim, n, attempt, at, data } = row;
  const storedAtMs = at.getTime();
  const lines = await unpackLines(data);
  return lines.map(({ atMs, level, stream, message }, line) => ({
    id: tailIdText({ storedAtMs, jobId, position: [claim, n, line] }),
    jobId,
    attempt,
    at: new Date(atMs).toISOString(),
    level,
    stream,
    message,
  }));
}
