import type { WantedJob } from '../../history/history.ts';
import type { HistoryBuilder } from './history-builder.ts';
import type { JobBuilder } from './job-builder.ts';

/** A batch of a history made by hand: two jobs, or none and open, with both callbacks. */
export class BatchBuilder {
  readonly #history: HistoryBuilder;
  readonly batch: JobBuilder;
  readonly jobs: JobBuilder[];
  readonly onComplete: JobBuilder;
  readonly onSuccess: JobBuilder;

  constructor(history: HistoryBuilder, { open = false } = {}) {
    this.#history = history;
    history.beat('w1', 'worker-1', 60_000);
    const birth = 'birth of the batch';
    this.batch = history.job({ batch: 'b', birth });
    const after = [this.batch.id];
    this.jobs = open ? [] : ['one', 'two'].map((name) => this.member(name, birth));
    this.onComplete = history.job({ isChild: true, paramsSha: 'complete', after, birth });
    this.onSuccess = history.job({ isChild: true, paramsSha: 'success', after, birth });
    const jobs = open ? [] : [wanted('one'), wanted('two')];
    const callbacks = { onComplete: wanted('complete'), onSuccess: wanted('success') };
    const call = {
      name: 'batch',
      key: 'k',
      batch: { name: 'b', open, jobs, ...callbacks },
    } as const;
    history.call(call, { ok: 'suspended', id: this.batch.id });
  }

  /** A client asks to cancel it. */
  cancel(): void {
    const call = { name: 'cancel-batch', batch: this.batch.id } as const;
    this.#history.call(call, { ok: 'suspended', id: this.batch.id });
  }

  /** One of its jobs is stored. */
  member(name: string, birth?: string): JobBuilder {
    const job = this.#history.job({ isChild: true, paramsSha: name, ...(birth && { birth }) });
    this.#history.history.members.push({ batch: this.batch.id, job: job.id, ended: 'succeeded' });
    return job;
  }

  /** A request for more jobs. */
  add(names: string[], answer: 'ok' | 'unknown' = 'ok'): void {
    const call = { name: 'add', key: 'a', batch: this.batch.id, jobs: names.map(wanted) } as const;
    const ok = { ok: 'suspended', id: this.batch.id } as const;
    this.#history.call(call, answer === 'ok' ? ok : answer);
  }

  /** A job of it runs and ends. */
  run(job: JobBuilder): void {
    job.claim().start().succeed();
  }

  /** A job of it fails for good. */
  fail(job: JobBuilder): void {
    job.claim().start().effect('throw').fail('NON_RETRYABLE', 'failed', job.execution);
    const edge = this.#history.history.members.find((one) => one.job === job.id);
    if (edge) edge.ended = 'failed';
  }

  /** The system ends it, with so many jobs. */
  end(succeeded: number, failed = 0): this {
    this.batch.move({ place: 'waiting', state: 'queued' }).claim();
    if (failed > 0) {
      this.batch.fail('BATCH_FAILED', 'failed');
      return this;
    }
    const counts = { total: succeeded, succeeded, failed: 0, cancelled: 0 };
    this.batch.batchResult = JSON.stringify(counts);
    this.batch.move({ place: 'done', state: 'succeeded' });
    return this;
  }

  /** A callback runs, and says how it heard the batch to have ended. */
  call(job: JobBuilder, state: string): void {
    job.move({ place: 'waiting', state: 'queued' }).claim().start();
    job.effect('told', { batch: { id: this.batch.id, state } }).succeed();
  }

  callAll(): void {
    for (const job of [this.onComplete, this.onSuccess]) this.call(job, 'succeeded');
  }

  /** A callback ends with its batch. */
  drop(job: JobBuilder): void {
    job.move({ place: 'done', state: 'failed', errorCode: 'PARENT_FAILED' });
  }
}

function wanted(paramsSha: string): WantedJob {
  return { paramsSha, definition: 'test', does: 'ok', delayMs: 0 };
}
