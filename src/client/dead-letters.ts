import type { Bulk, BulkPreview } from './bulk.ts';
import type { DeadLetterGroup, DeadLetterView } from '../core/failure/dead-letter.ts';
import type { Unsearched } from '../core/search/unsearched.ts';
import type { RetryOptions } from './job.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

/** A failed job, and a group of them, as the server shows them. */
export type DeadLetter = DeadLetterView;
export type { DeadLetterGroup };

export interface DeadLetterGroupFilter {
  definitionKey?: string | undefined;
  errorCode?: string | undefined;
  /** Failed at this time or later. */
  from?: Date | string | undefined;
  /** Failed before this time. */
  to?: Date | string | undefined;
}

export interface DeadLetterFilter extends DeadLetterGroupFilter {
  /** One group. */
  fingerprint?: string | undefined;
  /** A text in the error message or in the params. */
  q?: string | undefined;
}

export interface DeadLetterPage {
  jobs: DeadLetter[];
  nextCursor: string | null;
  /** Dead letters were searched up to this time of failure; null at the end. */
  searchedUntil: string | null;
  /** Params that the words of `q` were not compared with. Older servers do not send it. */
  unsearched?: readonly Unsearched[];
}

export interface DeadLetterGroups {
  groups: DeadLetterGroup[];
  /** False when there are more groups. */
  complete: boolean;
}

interface Page {
  cursor?: string | undefined;
  limit?: number | undefined;
}

/** A trend: the window, which needs `from`, in this many parts. */
interface Trend {
  buckets?: number | undefined;
}

export type RetryManyOptions = RetryOptions & {
  /** Jobs per second. */
  ratePerSecond?: number | undefined;
};

/** Failed jobs: `client.deadLetters`. */
export class DeadLetters {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page, the latest failure first. A short page need not be the last one. */
  async list(filter: DeadLetterFilter & Page = {}): Promise<DeadLetterPage> {
    return await this.#get('/v1/dead-letters', filter);
  }

  async *listAll(
    filter: DeadLetterFilter & Page = {},
  ): AsyncGenerator<DeadLetter, void, undefined> {
    let { cursor } = filter;
    do {
      const page = await this.list({ ...filter, cursor });
      yield* page.jobs;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Dead letters grouped by error, the most frequent first. */
  async groups(
    filter: DeadLetterGroupFilter & Trend & { limit?: number | undefined } = {},
  ): Promise<DeadLetterGroups> {
    return await this.#get('/v1/dead-letters/groups', filter);
  }

  /** Retries all matching jobs in the background. Not repeated after a broken connection. */
  async retry(filter: DeadLetterFilter = {}, options: RetryManyOptions = {}): Promise<Bulk> {
    return await this.#post({ ...filter, ...options });
  }

  /** What `retry` would change. */
  async previewRetry(filter: DeadLetterFilter = {}): Promise<BulkPreview> {
    return await this.#post({ ...filter, preview: true });
  }

  async #get<T>(path: string, filter: object): Promise<T> {
    const query = queryOf(filter);
    return await this.#transport.call<T>({ method: 'GET', path, query, repeatable: true });
  }

  async #post<T>(body: unknown): Promise<T> {
    const path = '/v1/dead-letters/retry';
    return await this.#transport.call<T>({ method: 'POST', path, body, repeatable: false });
  }
}
