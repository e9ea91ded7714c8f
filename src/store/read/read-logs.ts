import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import {
  parsePosition,
  type HistoryPosition,
  positionText,
} from '../../core/views/history-position.ts';
import type { LogView } from '../../core/views/history.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { unpackLines } from '../attempt/log-data.ts';

export interface LogPage {
  logs: LogView[];
  /** The last id of the page if more lines can be read now. */
  nextId: string | null;
  /** The job has ended and this is the last page: no line will follow. */
  ended: boolean;
}

export interface LogQuestion {
  /** Last id of the previous page. */
  afterId: string | null;
  attempt: number | null;
  limit: number;
}

/** The id of a line: its claim, its chunk, and its number in the chunk. */
export function isLogId(text: string): boolean {
  return parsePosition(text) !== null;
}

interface ChunkRow {
  ended: boolean;
  /** Null, like the rest, in the only row of a job without further chunks. */
  claim: number | null;
  n: number;
  attempt: number;
  data: Buffer;
}

/**
 * A chunk has at least one line, so a page needs at most one chunk more than lines. The number it
 * needs follows from their counts, minus the lines before the cursor, and only the data of these
 * is read. The same snapshot shows whether the job has ended: lines are written before the end, so
 * then all of them are there.
 */
const READ = statement<ChunkRow>(
  'read_logs',
  `select (select f.id from longshore.done f where f.shard = $1 and f.id = $2) is not null as ended,
     c.claim, c.n, c.attempt, c.data
   from longshore.job j
   left join lateral (
     select * from (
       select h.*, sum(h.lines) over (order by h.claim, h.n) - h.lines as lines_before
       from (
         select c.claim_no as claim, c.n, c.attempt, c.data, c.line_count - case
           when (c.claim_no, c.n) = ($4, $5) then least(c.line_count, $6::int) else 0 end as lines
         from longshore.log_chunk c
         where c.shard = $1 and c.job_id = $2 and (c.claim_no, c.n) >= ($4::int, $5::int)
           and ($7::int is null or c.attempt = $7)
         order by c.claim_no, c.n limit $8::int + 1
       ) h
     ) h
     where h.lines_before < $8
   ) c on true
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3
   order by c.claim, c.n`,
);

/** Null when this tenant has no such job. */
export async function readLogs(
  db: Queryable,
  tenant: string,
  jobId: string,
  { afterId, attempt, limit }: LogQuestion,
): Promise<LogPage | null> {
  if (!isJobId(jobId)) return null;
  const after = (afterId === null ? null : parsePosition(afterId)) ?? START;
  const [claim, n, line] = after;
  // One line more than the page detects a next page.
  const from = [claim, n, line + 1, attempt, limit + 1];
  const rows = await db.run(READ, [shardOfJobId(jobId), jobId, tenant, ...from]);
  const [first] = rows;
  if (!first) return null;
  const pages = await Promise.all(rows.map(async (row) => await linesOf(row, after)));
  const found = pages.flat();
  const logs = withinBytes(found.slice(0, limit));
  const more = found.length > logs.length;
  return { logs, nextId: (more ? logs.at(-1)?.id : null) ?? null, ended: first.ended && !more };
}

/** A page with more text than this ends early. */
export const LOG_PAGE_CHARS_MAX = 1024 * 1024;

/** As many lines as fit, at least one. */
function withinBytes(lines: readonly LogView[]): LogView[] {
  let chars = 0;
  const over = lines.findIndex(({ message }) => (chars += message.length) > LOG_PAGE_CHARS_MAX);
  return lines.slice(0, over === -1 ? lines.length : Math.max(1, over));
}

const START: HistoryPosition = [0, 0, -1];

async function linesOf(
  { claim, n, attempt, data }: ChunkRow,
  after: HistoryPosition,
): Promise<LogView[]> {
  if (claim === null) return [];
  const from = claim === after[0] && n === after[1] ? after[2] + 1 : 0;
  const lines = await unpackLines(data);
  return lines.slice(from).map(({ atMs, level, stream, message }, index) => {
    const id = positionText([claim, n, from + index]);
    return { id, attempt, at: new Date(atMs).toISOString(), level, stream, message };
  });
}
