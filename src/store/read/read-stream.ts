import { CannotOpen } from '../../core/access/sealed.ts';
import { isTerminal, type JobState } from '../../core/job/job.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { parsePosition, positionText } from '../../core/views/history-position.ts';
import type { StreamView } from '../../core/views/history.ts';
import { type Queryable, statement } from '../connection/db.ts';
import type { Vault } from '../connection/vault.ts';

export interface StreamPage {
  entries: StreamView[];
  /** The last id of the page if more can be read now. */
  nextId: string | null;
  /** The job has ended and this is the last page. */
  ended: boolean;
  status: JobState;
}

/** A chunk has at most about 100 KB. */
const CHUNKS_MAX = 32;

/**
 * One snapshot shows the claim of the job, its state and the chunks of that claim: chunks are
 * written before the end of their claim, so then all of them are there.
 */
const READ = statement<{
  state: JobState;
  claim: number;
  attempts: number;
  /** Null, like the rest, in the only row of a job without further chunks. */
  n: number | null;
  attempt: number | null;
  data: string | null;
}>(
  'read_stream',
  `select p.state, p.claim_no as claim, p.attempts, c.n, c.attempt, c.data
   from longshore.job j
   cross join lateral (
     select state, claim_no, attempts from longshore.waiting where shard = $1 and id = $2
     union all
     select state, claim_no, attempts from longshore.running where shard = $1 and id = $2
     union all
     select state, claim_no, attempts from longshore.done where shard = $1 and id = $2
     limit 1
   ) p
   left join lateral (
     select c.n, c.attempt, c.data from longshore.stream_chunk c
     where c.shard = $1 and c.job_id = $2 and c.claim_no = p.claim_no
       and c.n >= case when p.claim_no = $4::int then $5::int else 0 end
     order by c.n limit ${CHUNKS_MAX} + 1
   ) c on true
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3
   order by c.n`,
);

/** The id of an entry: its claim, and the number of chunks up to it. */
export function isStreamId(text: string): boolean {
  return parsePosition(text) !== null;
}

/**
 * The stream of the last claim, or what follows an entry of it. A claim begins with an entry
 * without text: what the reader has of an earlier one no longer counts. Null when this tenant has
 * no such job.
 */
export async function readStream(
  db: Queryable,
  tenant: string,
  jobId: string,
  afterId: string | null,
): Promise<StreamPage | null> {
  if (!isJobId(jobId)) return null;
  const [afterClaim, chunks] = (afterId === null ? null : parsePosition(afterId)) ?? [0, 0];
  const rows = await db.run(READ, [shardOfJobId(jobId), jobId, tenant, afterClaim, chunks]);
  const [first] = rows;
  if (!first) return null;
  const { claim, state } = first;
  const attempt = first.attempt ?? Math.max(1, first.attempts);
  const starts = claim > 0 && claim !== afterClaim;
  const begin = starts ? [{ id: positionText([claim, 0, 0]), attempt, text: null }] : [];
  const texts = rows.slice(0, CHUNKS_MAX).flatMap(({ n, data }): StreamView[] => {
    if (n === null || data === null) return [];
    return [{ id: positionText([claim, n + 1, 0]), attempt, text: shown(db.vault, tenant, data) }];
  });
  const entries = [...begin, ...texts];
  const more = rows.length > CHUNKS_MAX;
  const nextId = (more ? entries.at(-1)?.id : null) ?? null;
  return { entries, nextId, ended: isTerminal(state) && !more, status: state };
}

function shown(vault: Vault, tenant: string, data: string): string {
  try {
    return vault.openText(tenant, data, 'value');
  } catch (error) {
    if (error instanceof CannotOpen) return `[sealed: ${error.message}]`;
    throw error;
  }
}
