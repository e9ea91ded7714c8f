import { WAIT_CAUSES, type WaitCause } from '../../core/dependency/wait-cause.ts';
import { type Db, statement } from '../connection/db.ts';

/** Suspended jobs of a shard with one cause, or a part of them. */
export interface Suspended {
  cause: WaitCause;
  jobs: number;
}

/** A count ends here, so that a read of metrics costs no more when millions of jobs wait. */
const COUNT_MAX = 100_000;

/**
 * Ranges of `waits_for` in the order of bytes; a second colon begins a detail of a cause. Signals are
 * before or after what begins with a colon.
 */
const RANGES = Object.entries(WAIT_CAUSES).flatMap(([cause, text]) =>
  text === null
    ? [`('${cause}', '', ':')`, `('${cause}', ';', '~')`]
    : [`('${cause}', '${text}', '${text};')`],
);

const SUSPENDED = statement<Suspended>(
  'count_suspended',
  `select c.cause, (select count(*)::int from (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.waits_for collate "C" >= c.first and w.waits_for collate "C" < c.beyond
       limit ${COUNT_MAX}) found) as jobs
   from (values ${RANGES.join(', ')}) as c(cause, first, beyond)`,
);

export async function readSuspended(db: Db, shard: number): Promise<Suspended[]> {
  return await db.run(SUSPENDED, [shard]);
}
