import type { Mutant } from './mutant.ts';

const LOAD = { deck: { 'worker-kill': 2, 'api-kill': 1 }, mix: { ok: 20, batch: 60 } } as const;

/** Mistakes with batches. */
export const BATCH_MUTANTS: readonly Mutant[] = [
  {
    name: 'close-does-not-look',
    mistake: 'a batch that is closed after its last job has ended waits for one more end',
    changes: [
      {
        file: 'store/batches/store-batch.ts',
        find: "{ kind: 'closed', levels: await resolveNow(tx, shard, [batchId]) }",
        replace: "{ kind: 'closed', levels: [] }",
      },
    ],
    caughtBy: ['S32', 'L1'],
    ...LOAD,
  },
  {
    name: 'batch-ends-early',
    mistake: 'the first job that ends ends its batch, and its callbacks run',
    changes: [
      {
        file: 'store/claim/resume.ts',
        find: "then not ${hasOpenChild('w.id')} else",
        replace: 'then true else',
      },
      {
        file: 'store/edges/resolve-ended.ts',
        find: "then ${hasOpenChild('w.id')} else exists",
        replace: 'then false else exists',
      },
      {
        file: 'app/built-in/batch-job.ts',
        find: 'if (counts.pending > 0) throw new AwaitChildren();',
        replace: 'if (counts.pending < 0) throw new AwaitChildren();',
      },
    ],
    caughtBy: ['S32'],
    ...LOAD,
  },
  {
    name: 'cancelled-batch-ends-at-once',
    mistake: 'a batch that is cancelled ends, and onComplete runs, while its jobs still stop',
    changes: [
      {
        file: 'store/change/cancel-children.ts',
        find: 'if (isJobId(jobId) && (await beginBatchCancel(',
        replace: 'if (jobId === "" && (await beginBatchCancel(',
      },
    ],
    caughtBy: ['S32'],
    ...LOAD,
  },
  {
    name: 'failures-in-batches-forgotten',
    mistake: 'a batch with failed jobs succeeds, and onSuccess runs',
    changes: [
      {
        file: 'core/batch/batch.ts',
        find: 'const bad = failed + cancelled;',
        replace: 'const bad = cancelled;',
      },
    ],
    caughtBy: ['S32'],
    ...LOAD,
  },
  {
    name: 'callbacks-made-again',
    mistake: 'a batch that is sent again, with the same key, stores its callbacks again',
    changes: [
      {
        file: 'store/batches/store-batch.ts',
        find: 'if (!created) return { id,',
        replace:
          'if (!created) await enqueueWithin(tx, callbacks.map((one) => ({ ...one, job: { ...one.job, after: one.job.after && { ...one.job.after, jobs: [id] } } })));\n  if (!created) return { id,',
      },
    ],
    caughtBy: ['S32'],
    ...LOAD,
  },
  {
    name: 'keys-of-batches-forgotten',
    mistake: 'jobs that are sent to a batch again, with the same key, are stored again',
    changes: [
      {
        file: 'enqueue/batches.ts',
        find: "if (key === null) return { name: null, asked: '', entry };",
        replace: "return { name: null, asked: '', entry };",
      },
    ],
    caughtBy: ['S32'],
    ...LOAD,
  },
];
