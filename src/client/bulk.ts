import type { BulkAction, BulkView } from '../core/job/bulk.ts';
import { isJobId } from '../core/job/job-id.ts';
import type { JobState } from '../core/job/job.ts';
import { notFound } from './http/problems.ts';
import type { Job, RetryOptions } from './job.ts';
import { queryOf } from './http/query.ts';
import { pause } from './http/retry.ts';
import type { Transport } from './http/transport.ts';

/** A bulk action as the server shows it. */
export type Bulk = BulkView;

/** Selects the jobs. At least one field is required. */
export interface BulkFilter {
  status?: JobState | readonly JobState[] | undefined;
  definitionKey?: string | undefined;
  tag?: string | undefined;
  errorCode?: string | undefined;
  fingerprint?: string | undefined;
  createdAfter?: Date | string | undefined;
  createdBefore?: Date | string | undefined;
  runAfter?: Date | string | undefined;
  runBefore?: Date | string | undefined;
  finishedAfter?: Date | string | undefined;
  finishedBefore?: Date | string | undefined;
  /** A search, like `owner:billing timeout`. */
  q?: string | undefined;
  /** Only these jobs: up to 1,000 ids. */
  jobIds?: readonly string[] | undefined;
}

export interface BulkPreview {
  action: BulkAction;
  matched: number;
  /** False when there are more than were counted. */
  matchedIsExact: boolean;
  sample: Job[];
}

export interface BulkPage {
  bulks: Bulk[];
  nextCursor: string | null;
}

export interface BulkOptions extends RetryOptions {
  /** Jobs retried per second. */
  ratePerSecond?: number | undefined;
}

export interface BulkWaitOptions {
  /** Interval between two requests. */
  pollMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the bulk action after each request. */
  onProgress?: ((bulk: Bulk) => void) | undefined;
}

/** Actions on many jobs: `client.bulk`. */
export class Bulks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not repeated after a broken connection: use `list` to see whether it has begun. */
  async start(action: BulkAction, filter: BulkFilter, options: BulkOptions = {}): Promise<Bulk> {
    return await this.#post('/v1/bulk', { action, filter, ...options });
  }

  /** What the action would change; changes nothing. */
  async preview(action: BulkAction, filter: BulkFilter): Promise<BulkPreview> {
    return await this.#post('/v1/bulk', { action, filter, preview: true });
  }

  async get(bulkId: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Bulk> {
    const path = pathOf(bulkId);
    return await this.#transport.call({ method: 'GET', path, repeatable: true, signal });
  }

  /** One page, the newest first. */
  async list(page: { cursor?: string; limit?: number } = {}): Promise<BulkPage> {
    const query = queryOf(page);
    return await this.#transport.call({
      method: 'GET',
      path: '/v1/bulk',
      query,
      repeatable: true,
    });
  }

  /** Changes that were already made stay. */
  async abort(bulkId: string): Promise<Bulk> {
    return await this.#post(`${pathOf(bulkId)}/abort`);
  }

  /** Resolves when it is finished or aborted. */
  async wait(bulkId: string, options: BulkWaitOptions = {}): Promise<Bulk> {
    const { pollMs = 500, signal, onProgress } = options;
    for (;;) {
      const bulk = await this.get(bulkId, { signal });
      onProgress?.(bulk);
      if (bulk.status !== 'running') return bulk;
      await pause(pollMs, signal);
    }
  }

  async #post<T>(path: string, body?: unknown): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, body, repeatable: false });
  }
}

/** An invalid id could change the path, so no request is sent. */
function pathOf(bulkId: string): string {
  if (isJobId(bulkId)) return `/v1/bulk/${bulkId}`;
  throw notFound('bulk action', bulkId);
}
