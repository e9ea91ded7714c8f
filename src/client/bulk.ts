import type { BulkAction, BulkView } from '../core/job/bulk.ts';
import { isJobId } from '../core/job/job-id.ts';
import type { JobState } from '../core/job/job.ts';
import { ProblemError } from './http/errors.ts';
import type { Job, RetryOptions } from './job.ts';
import { queryOf } from './http/query.ts';
import { pause } from './http/retry.ts';
import type { Transport } from './http/transport.ts';

/** A bulk action as the server shows it. */
export type Bulk = BulkView;

/** Which jobs. At least one of these must be said. */
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
  q?: string | undefined;
}

export interface BulkPreview {
  action: BulkAction;
  matched: number;
  /** False: there are more than were counted. */
  matchedIsExact: boolean;
  sample: Job[];
}

export interface BulkPage {
  bulks: Bulk[];
  nextCursor: string | null;
}

export interface BulkOptions extends RetryOptions {
  /** How many jobs a second are retried. */
  ratePerSecond?: number | undefined;
}

export interface BulkWaitOptions {
  /** How often to look. */
  pollMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Is told each time how far it has come. */
  onProgress?: ((bulk: Bulk) => void) | undefined;
}

/** One thing done to many jobs: `client.bulk`. */
export class Bulks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Begins it. Not sent again after a broken connection: `list` tells whether it has begun. */
  async start(action: BulkAction, filter: BulkFilter, options: BulkOptions = {}): Promise<Bulk> {
    return await this.#post('/v1/bulk', { action, filter, ...options });
  }

  /** What it would be about; nothing is changed. */
  async preview(action: BulkAction, filter: BulkFilter): Promise<BulkPreview> {
    return await this.#post('/v1/bulk', { action, filter, preview: true });
  }

  async get(bulkId: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Bulk> {
    const path = pathOf(bulkId);
    return await this.#transport.call({ method: 'GET', path, repeatable: true, signal });
  }

  /** The newest first, a page at a time. */
  async list(page: { cursor?: string; limit?: number } = {}): Promise<BulkPage> {
    const query = queryOf(page);
    return await this.#transport.call({
      method: 'GET',
      path: '/v1/bulk',
      query,
      repeatable: true,
    });
  }

  /** What is done stays done. */
  async abort(bulkId: string): Promise<Bulk> {
    return await this.#post(`${pathOf(bulkId)}/abort`);
  }

  /** Resolves once it is over, finished or aborted. */
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

/** What is no id would be another path, so it is not sent at all. */
function pathOf(bulkId: string): string {
  if (isJobId(bulkId)) return `/v1/bulk/${bulkId}`;
  throw new ProblemError(404, 'NOT_FOUND', `no bulk action has the id "${bulkId}"`);
}
