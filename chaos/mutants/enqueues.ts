import type { Mutant } from './mutant.ts';

const DATABASE_TROUBLE = { 'postmaster-kill': 4, 'api-cut': 4, 'api-kill': 2 };

/** Mistakes in taking jobs in. */
export const ENQUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: 'answer-before-commit',
    mistake: 'a job is acknowledged before it is stored',
    changes: [
      {
        file: 'enqueue/enqueuer.ts',
        find: 'return [await this.#batch.add(await this.prepare(only))];',
        replace:
          "{ const entry = await this.prepare(only); this.#batch.add(entry).catch(() => undefined); return [{ jobId: entry.job.id, status: 'queued', created: true }]; }",
      },
    ],
    caughtBy: ['S1'],
    deck: DATABASE_TROUBLE,
  },
  {
    name: 'commit-without-disk',
    mistake: 'commits do not wait for the disk (Jepsen on NATS 2.12.1)',
    changes: [
      {
        file: 'store/connection/db.ts',
        find: '...(sessions && { options: SESSION }),',
        replace: '...(sessions && { options: `${SESSION} -c synchronous_commit=off` }),',
      },
    ],
    caughtBy: ['S1'],
    deck: { 'postmaster-kill': 8 },
  },
  {
    name: 'no-idempotency',
    mistake: 'an idempotency key does not keep a second job out',
    changes: [
      {
        file: 'store/enqueue/enqueue-entry.ts',
        find: 'const scope = `idempotency\\n${job.tenant}',
        replace: 'const scope = `idempotency\\n${job.id}',
      },
    ],
    caughtBy: ['S3'],
    deck: { 'api-cut': 4 },
  },
  {
    name: 'no-request-id',
    mistake: 'a repeated request id does not keep a second job out',
    changes: [
      {
        file: 'enqueue/enqueuer.ts',
        find: 'const named = requestId !== null && idempotencyKey === null;',
        replace: 'const named = requestId === "";',
      },
    ],
    caughtBy: ['S3'],
    deck: { 'api-cut': 4 },
  },
  {
    name: 'params-mixed-up',
    mistake: 'jobs that are stored together get the params of one another',
    changes: [
      {
        file: 'store/enqueue/enqueue-plain.ts',
        find: "`[${entries.map(storedParams).join(',')}]`,",
        replace: "`[${entries.map(storedParams).toReversed().join(',')}]`,",
      },
    ],
    caughtBy: ['S21'],
    deck: { 'link-delay': 1 },
  },
  {
    name: 'batches-in-pieces',
    mistake: 'a batch is stored job by job',
    changes: [
      {
        file: 'enqueue/enqueuer.ts',
        find: 'return await enqueueAndWake(this.#db, this.#waker, entries, true);',
        replace:
          'const all = []; for (const entry of entries) all.push(...(await enqueueAndWake(this.#db, this.#waker, [entry], true))); return all;',
      },
    ],
    caughtBy: ['S18'],
    deck: { 'api-kill': 2, 'link-reset': 4 },
  },
  {
    name: 'slots-in-pieces',
    mistake: 'a slot is recorded first and its job made afterwards (procrastinate#1495)',
    changes: [
      {
        file: 'scheduler/fire-due.ts',
        find: 'db.transaction(async (tx) => {',
        replace: '(async (work) => await work(db))(async (tx) => {',
      },
    ],
    caughtBy: ['S15'],
    deck: { 'cron-cut': 8, 'scheduler-kill': 2 },
  },
];
