import type { BatchStatus, BatchView } from '../../core/batch/batch.ts';
import { isTerminal } from '../../core/job/job.ts';
import { isRecord } from '../../core/values/record.ts';
import { limitOf } from '../handle.ts';
import { ProblemError, WaitTimeout } from '../http/errors.ts';
import { type OptionNames, refuseUnknownOptions } from '../http/known-options.ts';
import { requestBody } from '../http/request-body.ts';
import { pause } from '../http/retry.ts';
import type { BatchEntries, BatchEntry, DefinitionRef } from '../job.ts';
import { ofWholeList } from './whole-list.ts';

/** A batch as the server shows it. */
export type Batch = BatchView;

type Definition = DefinitionRef | string;

/** The params of the callbacks are checked against their definitions. */
export interface BatchOptions<
  OnComplete extends Definition = Definition,
  OnSuccess extends Definition = Definition,
> {
  name?: string | undefined;
  /** Runs once, when the last job has ended, however they ended. */
  onComplete?: BatchEntry<OnComplete> | undefined;
  /** Runs once, when all jobs have succeeded. */
  onSuccess?: BatchEntry<OnSuccess> | undefined;
  /** Accepts more jobs until `close()`. */
  open?: boolean | undefined;
  /**
   * The same call again makes no second batch: it finishes the first one, and returns it. ASCII, at most
   * 255 characters.
   */
  idempotencyKey?: string | undefined;
}

export interface BatchAddOptions {
  /** The same call again adds nothing. Unlike any other of this batch; ASCII, at most 240 characters. */
  idempotencyKey?: string | undefined;
}

/** Where batches are stored: over HTTP, or by this process. */
export interface BatchCalls {
  make(body: object, idempotencyKey: string | undefined): Promise<Batch>;
  addJobs(
    batchId: string,
    body: { jobs: unknown[] },
    idempotencyKey: string | undefined,
  ): Promise<Batch>;
  change(batchId: string, how: 'close' | 'cancel' | 'retry'): Promise<Batch>;
  get(batchId: string, signal: AbortSignal | undefined): Promise<Batch>;
}

export interface BatchWaitOptions {
  /** Interval between two requests. */
  pollMs?: number | undefined;
  /** Throws `WaitTimeout` after this time. The batch goes on. */
  timeoutMs?: number | undefined;
  /** Called with the batch after each request. */
  onPoll?: ((batch: Batch) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Jobs of one request. */
const PART = 1_000;
const POLL_MS = 500;
const OPTIONS: OptionNames<BatchOptions> = {
  name: true,
  onComplete: true,
  onSuccess: true,
  open: true,
  idempotencyKey: true,
};
const ADD_OPTIONS: OptionNames<BatchAddOptions> = { idempotencyKey: true };
const WAIT_OPTIONS: OptionNames<BatchWaitOptions> = {
  pollMs: true,
  timeoutMs: true,
  onPoll: true,
  signal: true,
};

/** Makes and changes batches. */
export class BatchMaker {
  readonly #calls: BatchCalls;

  constructor(calls: BatchCalls) {
    this.#calls = calls;
  }

  /**
   * A long list is stored in parts: the batch is opened, filled and closed. Each part has a key of its
   * own, so a part that is sent again adds nothing twice. If a part is refused, the batch is cancelled. With
   * an idempotency key it stays open after any other error, so that the same call can finish it; and it
   * may be the batch of an earlier call with another list, which goes on.
   */
  async create(entries: readonly BatchEntry[], options: BatchOptions = {}): Promise<BatchHandle> {
    refuseUnknownOptions('batch', options, OPTIONS);
    const { name, onComplete, onSuccess, open = false, idempotencyKey } = options;
    const first = entries.slice(0, PART);
    const rest = entries.slice(PART);
    const body = {
      ...(name !== undefined && { name }),
      jobs: first.map(requestBody),
      ...(onComplete && { onComplete: callback('onComplete', onComplete) }),
      ...(onSuccess && { onSuccess: callback('onSuccess', onSuccess) }),
      open: open || rest.length > 0,
    };
    const batch = await this.#calls.make(body, idempotencyKey);
    const handle = this.handle(batch.id);
    if (rest.length === 0) return handle;
    try {
      const keyOf = (at: number) => (idempotencyKey === undefined ? undefined : `part:${at}`);
      await this.#addParts(batch.id, rest, PART, keyOf);
      if (!open) await handle.close();
    } catch (error) {
      // The caller gets no handle, so it could neither fill nor close the batch.
      const mayCancel = batch.status === 'open' && isRefusal(error) && !isOfAnotherCall(error);
      if (idempotencyKey === undefined || mayCancel) {
        await handle.cancel().catch(() => undefined);
      }
      throw error;
    }
    return handle;
  }

  /** A handle for a known id. Sends no request. */
  handle(batchId: string): BatchHandle {
    return new BatchHandle(this, batchId);
  }

  async get(
    batchId: string,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Batch> {
    return await this.#calls.get(batchId, signal);
  }

  async add(
    batchId: string,
    entries: readonly BatchEntry[],
    options: BatchAddOptions = {},
  ): Promise<Batch> {
    refuseUnknownOptions('add', options, ADD_OPTIONS);
    const { idempotencyKey: key } = options;
    const keyOf = (at: number) => (key === undefined || at === 0 ? key : `${key}:${at}`);
    await this.#addParts(batchId, entries, 0, keyOf);
    return await this.get(batchId);
  }

  /** `before`: how many entries of the list of the caller come before these. */
  async #addParts(
    batchId: string,
    entries: readonly BatchEntry[],
    before: number,
    keyOf: (at: number) => string | undefined,
  ): Promise<void> {
    for (let at = 0; at < entries.length; at += PART) {
      const jobs = entries.slice(at, at + PART).map(requestBody);
      try {
        await this.#calls.addJobs(batchId, { jobs }, keyOf(before + at));
      } catch (error) {
        throw ofWholeList(error, before + at);
      }
    }
  }

  async close(batchId: string): Promise<Batch> {
    return await this.#calls.change(batchId, 'close');
  }

  /** Cancels the batch and its jobs that have not ended. */
  async cancel(batchId: string): Promise<Batch> {
    return await this.#calls.change(batchId, 'cancel');
  }

  /** Retries its jobs that failed or were cancelled, then the batch if it has ended. */
  async retry(batchId: string): Promise<Batch> {
    return await this.#calls.change(batchId, 'retry');
  }
}

/** One batch: read it, add jobs, close it, wait for it or cancel it. */
export class BatchHandle {
  readonly id: string;
  readonly #batches: BatchMaker;

  constructor(batches: BatchMaker, id: string) {
    this.#batches = batches;
    this.id = id;
  }

  /** Each entry is checked against its own definition. */
  async add<const All extends readonly Definition[]>(
    entries: BatchEntries<All>,
    options?: BatchAddOptions,
  ): Promise<Batch> {
    return await this.#batches.add(this.id, entries, options);
  }

  async close(): Promise<Batch> {
    return await this.#batches.close(this.id);
  }

  async status(): Promise<Batch> {
    return await this.#batches.get(this.id);
  }

  async cancel(): Promise<Batch> {
    return await this.#batches.cancel(this.id);
  }

  /** Retries the jobs that did not succeed; then it waits for them again. */
  async retry(): Promise<Batch> {
    return await this.#batches.retry(this.id);
  }

  /** Resolves with the batch when it has ended, in any status. An open batch does not end. */
  async result(options: BatchWaitOptions = {}): Promise<Batch> {
    refuseUnknownOptions('result', options, WAIT_OPTIONS);
    const { pollMs = POLL_MS, timeoutMs, onPoll } = options;
    const limit = timeoutMs === undefined ? undefined : limitOf(timeoutMs);
    const signals = [limit, options.signal].filter((signal) => signal !== undefined);
    const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
    let seen: BatchStatus | null = null;
    try {
      for (;;) {
        const batch = await this.#batches.get(this.id, { signal });
        seen = batch.status;
        onPoll?.(batch);
        if (seen !== 'open' && isTerminal(seen)) return batch;
        await pause(pollMs, signal);
      }
    } catch (error) {
      if (timeoutMs === undefined || !limit?.aborted || options.signal?.aborted) throw error;
      throw new WaitTimeout(`batch ${this.id}`, timeoutMs, null, seen);
    }
  }
}

/** An idempotency key as a header: in quotes it may have spaces. */
export function quotedKey(key: string): string {
  return `"${key.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The same request would be refused again. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.status < 500 && error.status !== 429;
}

/** Another list was stored, or is complete. */
function isOfAnotherCall(error: unknown): boolean {
  const codes = ['IDEMPOTENCY_CONFLICT', 'BATCH_CLOSED'];
  return error instanceof ProblemError && codes.includes(error.code);
}

/** A callback is an entry: a definition or its key alone has no params. */
function callback(name: string, entry: BatchEntry) {
  const { definition } = (isRecord(entry) ? entry : {}) as Partial<BatchEntry>;
  if (typeof definition !== 'string' && !isRecord(definition)) {
    throw new TypeError(`${name} must be { definition, params }`);
  }
  return requestBody(entry);
}
