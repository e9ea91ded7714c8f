import { BATCH_KEY, batchProblem, batchResult } from '../../core/batch/batch.ts';
import { definitionInfo } from '../../core/definition/check-definition.ts';
import { AwaitChildren, branded, type JobDefinition } from '../../core/definition/define.ts';
import { countBatch } from '../../store/batches/read-batches.ts';
import type { Db } from '../../store/connection/db.ts';

const TIMEOUT_SECONDS = 60;
/** A database that does not answer must not fail a batch. */
const MAX_ATTEMPTS = 20;

/** Not retried, because its jobs would be the same. */
class BatchFailed extends Error {
  override name = 'BatchFailed';
  readonly code = 'BATCH_FAILED';
}

/**
 * The end of a batch, as a job under the rules of every job. It runs when the batch is closed and all
 * of its jobs have ended, and after a retry by hand, when some of them may be open again: then it waits
 * again. It runs inside the worker: it only reads counts.
 */
export function batchJob(db: Db): JobDefinition {
  const policy = definitionInfo(
    {
      key: 'batch',
      isolation: 'inline',
      maxAttempts: MAX_ATTEMPTS,
      retry: { baseMs: 1_000, maxMs: 60_000 },
      timeoutSeconds: TIMEOUT_SECONDS,
    },
    { paramsSchema: null },
  );
  return branded({
    info: { ...policy, key: BATCH_KEY },
    schema: null,
    hooks: {},
    run: async (_params: unknown, ctx) => {
      const counts = await countBatch(db, ctx.jobId);
      if (counts.pending > 0) throw new AwaitChildren();
      const problem = batchProblem(counts);
      if (problem !== null) throw new BatchFailed(problem);
      return batchResult(counts);
    },
  });
}
