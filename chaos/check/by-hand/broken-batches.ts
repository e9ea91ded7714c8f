import { BatchBuilder } from './batch-builder.ts';
import type { Broken } from './broken-safety.ts';

/** The promises of batches, each broken by hand. */
export const BROKEN_BATCHES: Broken[] = [
  {
    breaks: ['S32'],
    how: 'a batch ended, and ran its callbacks, before its last job had ended',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.end(2).callAll();
      b.run(b.jobs[1]!);
    },
  },
  {
    breaks: ['S32'],
    how: 'a callback ran before its batch had ended',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.call(b.onComplete, 'succeeded');
      for (const job of b.jobs) b.run(job);
      b.end(2).call(b.onSuccess, 'succeeded');
    },
  },
  {
    breaks: ['S32'],
    how: 'onSuccess ran although a job of the batch had failed',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.fail(b.jobs[1]!);
      b.end(1, 1);
      b.call(b.onComplete, 'failed');
      b.call(b.onSuccess, 'failed');
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch succeeded although a job of it had failed',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.fail(b.jobs[1]!);
      b.end(2).callAll();
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch takes a failed job for a successful one',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.fail(b.jobs[1]!);
      h.history.members[1]!.ended = 'succeeded';
      b.end(1, 1);
      b.call(b.onComplete, 'failed');
      b.drop(b.onSuccess);
    },
  },
  {
    breaks: ['S18', 'S32'],
    how: 'a callback was made twice',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
      b.end(2).callAll();
      const after = [b.batch.id];
      b.call(h.job({ isChild: true, paramsSha: 'complete', after }), 'succeeded');
    },
  },
  {
    breaks: ['S32'],
    how: 'onComplete failed with its batch and did not run',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.fail(b.jobs[1]!);
      b.end(1, 1);
      for (const job of [b.onComplete, b.onSuccess]) b.drop(job);
    },
  },
  {
    breaks: ['S32'],
    how: 'a callback still waits for its batch, which has ended',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
      b.end(2).call(b.onSuccess, 'succeeded');
    },
  },
  {
    breaks: ['S32'],
    how: 'a callback read another end than its batch had',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
      b.end(2).call(b.onSuccess, 'succeeded');
      b.call(b.onComplete, 'failed');
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch still waits, and its last job has ended',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch was closed after its last job had ended, and still waits',
    make: (h) => {
      const b = new BatchBuilder(h, { open: true });
      const late = b.member('late');
      b.add(['late']);
      b.run(late);
      const call = { name: 'close-batch', batch: b.batch.id } as const;
      h.call(call, { ok: 'suspended', id: b.batch.id });
    },
  },
  {
    breaks: ['S32'],
    how: 'jobs that were added and acknowledged are not stored',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.add(['late']);
      for (const job of b.jobs) b.run(job);
      b.end(2).callAll();
    },
  },
  {
    breaks: ['S32'],
    how: 'a request with jobs was sent again and stored them again',
    make: (h) => {
      const b = new BatchBuilder(h, { open: true });
      const twins = ['late', 'late'].map((name) => b.member(name));
      b.add(['late'], 'unknown');
      b.add(['late']);
      for (const job of twins) b.run(job);
      b.end(2).callAll();
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch did not wait for a job that was added to it',
    make: (h) => {
      const b = new BatchBuilder(h, { open: true });
      const late = b.member('late');
      h.history.members.pop();
      b.add(['late']);
      b.end(0).callAll();
      b.run(late);
    },
  },
  {
    breaks: ['S3', 'S32'],
    how: 'a request for a batch was sent again and made a second one',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
      b.end(2).callAll();
      h.job({ batch: 'b', key: 'k', birth: 'birth of the batch' });
      h.job({ batch: 'b', key: 'k', birth: 'birth of the batch' });
    },
  },
  {
    breaks: ['S32'],
    how: 'an acknowledged batch is not stored',
    make: (h) => {
      const batch = { name: 'b', open: true, jobs: [], onComplete: null, onSuccess: null };
      h.call({ name: 'batch', key: 'k', batch }, { ok: 'suspended', id: 'job-1' });
    },
  },
  {
    breaks: ['S18', 'S32'],
    how: 'a batch was stored without its callback',
    make: (h) => {
      const b = new BatchBuilder(h);
      for (const job of b.jobs) b.run(job);
      b.end(2).call(b.onSuccess, 'succeeded');
      b.onComplete.spot = null;
      h.history.rows = h.history.rows.filter(({ job }) => job !== b.onComplete.id);
    },
  },
  {
    breaks: ['S32'],
    how: 'a batch was cancelled, and onComplete ran, before its last job had ended',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.cancel();
      b.run(b.jobs[0]!);
      b.batch.move({ place: 'done', state: 'cancelled' });
      b.call(b.onComplete, 'cancelled');
      b.drop(b.onSuccess);
      b.run(b.jobs[1]!);
    },
  },
  {
    breaks: ['S32'],
    how: 'a cancelled batch counts a job too little',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.cancel();
      for (const job of b.jobs) b.run(job);
      b.batch.batchResult = JSON.stringify({ total: 1, succeeded: 1, failed: 0, cancelled: 0 });
      b.batch.move({ place: 'done', state: 'cancelled' });
      b.call(b.onComplete, 'cancelled');
      b.drop(b.onSuccess);
    },
  },
  {
    breaks: ['S17', 'S32'],
    how: 'a batch is cancelled without a request, and its jobs are not',
    make: (h) => {
      const b = new BatchBuilder(h);
      b.run(b.jobs[0]!);
      b.batch.move({ place: 'done', state: 'cancelled' });
      b.call(b.onComplete, 'cancelled');
      b.drop(b.onSuccess);
    },
  },
];
