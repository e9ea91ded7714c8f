import type { BatchJob, MemberState } from '../../core/batch/batch.ts';
import { isJobId } from '../../core/job/job-id.ts';
import { notFound } from '../http/problems.ts';
import { queryOf } from '../http/query.ts';
import type { Transport } from '../http/transport.ts';
import { type Batch, type BatchCalls, BatchMaker, quotedKey } from './batches.ts';

export interface BatchPage {
  batches: Batch[];
  nextCursor: string | null;
}

export interface BatchJobPage {
  jobs: BatchJob[];
  nextCursor: string | null;
}

/** Batches of jobs: `client.batches`. `client.batch` makes one. */
export class Batches extends BatchMaker {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(overHttp(transport));
    this.#transport = transport;
  }

  /** One page, newest first. */
  async list(filter: { limit?: number; cursor?: string | undefined } = {}): Promise<BatchPage> {
    return await this.#get<BatchPage>('/v1/batches', filter);
  }

  /** One page, in the order in which they were stored. */
  async jobs(
    batchId: string,
    filter: { state?: MemberState; limit?: number; cursor?: string | undefined } = {},
  ): Promise<BatchJobPage> {
    return await this.#get<BatchJobPage>(`${pathOf(batchId)}/jobs`, filter);
  }

  async #get<T>(path: string, filter: object): Promise<T> {
    const query = queryOf(filter);
    return await this.#transport.call<T>({ method: 'GET', path, query, repeatable: true });
  }
}

function overHttp(transport: Transport): BatchCalls {
  /** All of these may be repeated: they are idempotent, or have a key. */
  const post = async (path: string, body?: unknown, idempotencyKey?: string) => {
    const key = idempotencyKey === undefined ? {} : { idempotencyKey };
    const about = { method: 'POST', repeatable: true, ...key } as const;
    return await transport.call<Batch>({ ...about, path, body });
  };
  return {
    make: async (body, key) => await post('/v1/batches', body, headerOf(key)),
    addJobs: async (batchId, body, key) =>
      await post(`${pathOf(batchId)}/jobs`, body, headerOf(key)),
    change: async (batchId, how) => await post(`${pathOf(batchId)}/${how}`),
    get: async (batchId, signal) => {
      const path = pathOf(batchId);
      return await transport.call<Batch>({ method: 'GET', path, repeatable: true, signal });
    },
  };
}

/** The key of the caller in quotes; without one, a new key for the repeats of this request. */
function headerOf(key: string | undefined): string {
  return key === undefined ? crypto.randomUUID() : quotedKey(key);
}

function pathOf(batchId: string): string {
  if (!isJobId(batchId)) throw notFound('batch', batchId);
  return `/v1/batches/${batchId}`;
}
