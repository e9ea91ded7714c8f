import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import type { WorkQueue } from '../claim/work-queue.ts';
import { lineFields } from './attempt-signals.ts';
import type { Spawn } from './execution.ts';

const PAUSE_MS = 500;
const LOST = { problem: 'this attempt no longer owns the job' };

/** Stores the children of jobs. Retries as long as the claim holds: a repeat finds what it stored. */
export function spawner(queue: WorkQueue, log: Log): Spawn {
  return async (execution, children) => {
    const { shard, job, tenant, traceparent } = execution;
    const { id, claim } = job;
    while (!execution.lost) {
      try {
        return await queue.spawn(shard, { id, claim, tenant, traceparent, children });
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) {
          log.warn({ ...lineFields(execution), err: error }, 'cannot store the children of a job');
          const why = error instanceof Error ? error.message : String(error);
          return { problem: `the children could not be stored: ${why}` };
        }
        await sleep(PAUSE_MS);
      }
    }
    return LOST;
  };
}
