import type { HistoryBuilder } from './history-builder.ts';

export interface Broken {
  /** Exactly these invariants must report a violation. */
  breaks: string[];
  how: string;
  make(h: HistoryBuilder): void;
}

/** Two workers, and a job whose first claim was just lost: the second one runs it now. */
export function lostOnce(h: HistoryBuilder) {
  h.beat('w1');
  h.beat('w2', 'worker-2');
  const job = h.job().claim().start();
  const stale = job.execution;
  const fault = h.fault('success-stall', ['worker-1']);
  h.bury('w1');
  job.fail('LEASE_EXPIRED', 'queued').claim('w2').start('worker-2');
  h.heal(fault);
  return { job, stale };
}

/** The promises of the queue itself, each broken by hand. */
export const BROKEN_SAFETY: Broken[] = [
  {
    breaks: ['S1'],
    how: 'an acknowledged job was never stored',
    make: (h) => void h.job({ stored: false }),
  },
  { breaks: ['S1'], how: 'an acknowledged job still waits', make: (h) => void h.job() },
  {
    breaks: ['S2'],
    how: 'a refused request made a job',
    make: (h) => {
      h.beat('w1');
      h.job({ answer: 'fail' }).claim().start().succeed();
    },
  },
  {
    breaks: ['S2'],
    how: 'a job exists that no client enqueued',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().succeed();
      h.history.client.length = 0;
    },
  },
  {
    breaks: ['S3'],
    how: 'one key made two jobs',
    make: (h) => {
      h.beat('w1');
      const { paramsSha } = h.job({ key: 'k' }).claim().start().succeed();
      h.job({ key: 'k', paramsSha }).claim().start().succeed();
    },
  },
  {
    breaks: ['S3'],
    how: 'one request id made two jobs',
    make: (h) => {
      h.beat('w1');
      const { paramsSha } = h.job({ key: 'r' }).claim().start().succeed();
      h.job({ key: null, paramsSha }).claim().start().succeed();
    },
  },
  {
    breaks: ['S3', 'S21'],
    how: 'a key was accepted with other params',
    make: (h) => {
      h.beat('w1');
      const { id } = h.job({ key: 'k' }).claim().start().succeed();
      const other = { paramsSha: 'other', definition: 'test', does: 'ok', delayMs: 0 };
      h.call({ name: 'enqueue', key: 'k', jobs: [other] }, { ok: 'succeeded', id });
    },
  },
  {
    breaks: ['S4', 'S17'],
    how: 'a job that was being cancelled is tried again',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ maxAttempts: 2 }).claim().start().effect('throw');
      job.move({ place: 'running', state: 'cancelling' });
      h.call({ name: 'cancel', job: job.id }, { ok: 'cancelling', id: job.id });
      job.fail('HANDLER_ERROR', 'retrying', job.execution).promote();
      job.claim().start().effect('throw').fail('HANDLER_ERROR', 'failed', job.execution);
    },
  },
  {
    breaks: ['S4'],
    how: 'a job was born ended',
    make: (h) => {
      const job = h.job({ stored: false });
      job.move({ place: 'done', state: 'cancelled' });
      h.call({ name: 'cancel', job: job.id }, { ok: 'cancelled', id: job.id });
    },
  },
  {
    breaks: ['S4', 'S5'],
    how: 'a job ended twice',
    make: (h) => {
      const { job } = lostOnce(h);
      job.succeed().move({ place: 'done', state: 'failed', errorCode: 'NON_RETRYABLE' });
    },
  },
  {
    breaks: ['S1', 'S4', 'S5'],
    how: 'a rescue reopened a job that had ended',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().succeed().move({ place: 'waiting', state: 'queued' });
    },
  },
  {
    breaks: ['S6', 'S22'],
    how: 'a claim number was used twice',
    make: (h) => {
      const { job } = lostOnce(h);
      const again = h.history.rows.at(-1);
      if (again && job.spot) job.spot.claim = again.claim = 1;
      job.succeed();
    },
  },
  {
    breaks: ['S6'],
    how: 'a worker claimed long after it was declared dead',
    make: (h) => {
      h.beat('w1');
      const job = h.job();
      h.bury('w1');
      h.tick(5_000);
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['S6'],
    how: 'a worker was declared dead while its lease held',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().succeed();
      h.bury('w1', 500);
    },
  },
  {
    breaks: ['S5', 'S6', 'S9', 'S24'],
    how: 'a job was claimed by two workers',
    make: (h) => {
      h.beat('w1');
      h.beat('w2', 'worker-2');
      const job = h.job().claim();
      const second = { ...job.spot!, worker: 'w2' };
      job.start().succeed();
      h.row({ ...second, xid: 'second', move: 'came' });
      h.row({ ...second, xid: 'third', move: 'left' });
    },
  },
  {
    breaks: ['S7'],
    how: 'the result of a stale execution was accepted',
    make: (h) => {
      const { job, stale } = lostOnce(h);
      job.succeed(stale);
    },
  },
  {
    breaks: ['S7'],
    how: 'the error of a stale execution was accepted',
    make: (h) => {
      const { job, stale } = lostOnce(h);
      job.effect('throw').fail('NON_RETRYABLE', 'failed', stale);
    },
  },
  {
    breaks: ['S7'],
    how: 'the progress of a stale execution was accepted',
    make: (h) => {
      const { job, stale: execution } = lostOnce(h);
      const row = { job: job.id, claim: 2, attempts: 2, execution };
      h.history.progress.push({ seq: h.nextSeq(), at: h.tick(), ...row });
      job.succeed();
    },
  },
  {
    breaks: ['S8'],
    how: 'an outcome was stored and its worker got the answer stale',
    make: (h) => {
      h.beat('w1');
      const { id: job } = h.job().claim().start().succeed();
      const refused = { what: 'stale-refused', slot: 'worker-1', job, claim: 1 } as const;
      h.history.notices.push({ at: h.tick(), ...refused });
    },
  },
  {
    breaks: ['S9'],
    how: 'a lost lease cost no attempt',
    make: (h) => {
      h.beat('w1');
      h.beat('w2', 'worker-2');
      const job = h.job().claim().start();
      h.fault('success-stall', ['worker-1']);
      h.bury('w1');
      job.fail('LEASE_EXPIRED', 'queued');
      h.history.rows.at(-1)!.attempts = job.spot!.attempts = 0;
      job.claim('w2').start('worker-2').succeed();
    },
  },
  {
    breaks: ['S9'],
    how: 'a claim was given back as never begun although it had',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start();
      h.fault('worker-freeze', ['worker-1']);
      job.move({ place: 'waiting', state: 'queued', attempts: 0 }).claim().start().succeed();
    },
  },
  {
    breaks: ['S9'],
    how: 'a claim whose answer was lost cost an attempt',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim();
      job.move({ place: 'waiting', state: 'queued' }).claim().start().succeed();
    },
  },
  {
    breaks: ['S9', 'S23'],
    how: 'a job was run more often than it has attempts',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ maxAttempts: 1 }).claim().start().effect('throw');
      job.fail('HANDLER_ERROR', 'retrying', job.execution).promote().claim().start().succeed();
    },
  },
  {
    breaks: ['S12'],
    how: 'two jobs ran at once where one is let',
    make: (h) => {
      h.beat('w1');
      const limits = [{ name: 'narrow', most: 1 }];
      const [first, second] = [h.job({ limits }), h.job({ limits })];
      first.claim().start();
      second.claim().start().succeed();
      first.succeed();
    },
  },
];
