import { activeTraceparent } from './http/active-trace.ts';
import { ProblemError } from './http/errors.ts';
import { Gathering, type Room } from './http/gathering.ts';
import { InvalidRequest } from './http/problems.ts';
import { namedBody, namesRequestId, withKeys } from './http/request-id.ts';
import { PASSING_STATUSES } from './http/retry.ts';
import { jsonOf, type Transport } from './http/transport.ts';
import type { BatchEntry, EnqueueOptions, JobReceipt } from './job.ts';

type Entry = Omit<BatchEntry, 'options'> & { options?: EnqueueOptions | undefined };

interface Request {
  json: string;
  traceparent: string | null;
  signal: AbortSignal | undefined;
}

interface Waiting extends Request {
  definition: string;
  resolve(receipt: JobReceipt): void;
  reject(error: unknown): void;
  /** Called when the caller aborts. */
  onAbort?: () => void;
}

/** Jobs with these are sent alone: a lock on a key or a parent must delay no other caller. */
const KEYS = ['idempotencyKey', 'concurrencyKey', 'unique', 'after'];
/** Larger jobs are sent alone. */
const SHARED_JOB_MAX_CHARS = 16_384;

/** The limits of a shared request are lower than those of servers and usual proxies. */
class SharedRoom implements Room<Waiting> {
  #jobs = 0;
  #chars = 0;
  readonly #definitions = new Set<string>();

  takes({ json, definition }: Waiting): boolean {
    this.#jobs += 1;
    this.#chars += json.length;
    this.#definitions.add(definition);
    // For more definitions, the server omits the nearest key from its warnings.
    return this.#jobs <= 500 && this.#chars <= 131_072 && this.#definitions.size <= 10;
  }
}

/**
 * Enqueues jobs. Concurrent calls for one job each share requests, and each gets the answer of its
 * own job: the jobs of a refused shared request are sent again alone. Every job has a request id or
 * a key, so it is stored once, however often it is sent.
 */
export class Enqueues {
  readonly #transport: Transport;
  /** By the span of the caller, because a request has one trace context. */
  readonly #gatherings = new Map<string | null, Gathering<Waiting>>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async one(entry: Entry): Promise<JobReceipt> {
    const body = namedBody(entry);
    // Made now: the caller may change the params later.
    const json = jsonOf(body);
    const request = { json, traceparent: activeTraceparent(), signal: entry.options?.signal };
    const isShared = json.length <= SHARED_JOB_MAX_CHARS && KEYS.every((key) => !(key in body));
    if (!isShared) return await this.#alone(request);
    const { definitionKey: key, definitionVersion: version = '' } = body;
    return await this.#shared(request, `${String(key)}@${String(version)}`);
  }

  /** All are stored or none. */
  async many(
    entries: readonly BatchEntry[],
    signal: AbortSignal | undefined,
  ): Promise<JobReceipt[]> {
    const json = jsonOf({ jobs: entries.map(namedBody) });
    const request = { json, traceparent: activeTraceparent(), signal };
    return (await this.#post<{ jobs: JobReceipt[] }>('/v1/jobs/batch', request)).jobs;
  }

  async #shared(request: Request, definition: string): Promise<JobReceipt> {
    const { signal, traceparent } = request;
    signal?.throwIfAborted();
    const gathering = this.#gatheringOf(traceparent);
    let stop = () => undefined as void;
    try {
      return await new Promise<JobReceipt>((resolve, reject) => {
        const waiting: Waiting = { ...request, definition, resolve, reject };
        stop = () => {
          gathering.remove(waiting);
          reject(signal?.reason as Error);
          waiting.onAbort?.();
        };
        signal?.addEventListener('abort', stop);
        gathering.add(waiting);
      });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  #gatheringOf(traceparent: string | null): Gathering<Waiting> {
    const known = this.#gatherings.get(traceparent);
    if (known) return known;
    for (const [key, { isIdle }] of this.#gatherings) if (isIdle) this.#gatherings.delete(key);
    const roomOf = () => new SharedRoom();
    const made = new Gathering(roomOf, async (jobs) => await this.#answer(jobs));
    this.#gatherings.set(traceparent, made);
    return made;
  }

  async #answer(jobs: readonly Waiting[], mayShareAgain = true): Promise<void> {
    const [first, second] = jobs;
    if (!first) return;
    if (!second) return await this.#alone(first).then(first.resolve, first.reject);
    try {
      const receipts = await this.#together(jobs, first.traceparent);
      for (const [index, job] of jobs.entries()) job.resolve(receipts[index] as JobReceipt);
    } catch (error) {
      if (isRefusal(error)) await this.#answerAgain(jobs, error, mayShareAgain);
      else for (const job of jobs) job.reject(error);
    }
  }

  /** Jobs that are named in the refusal are sent alone, and the others together, but only once. */
  async #answerAgain(
    jobs: readonly Waiting[],
    { errors }: ProblemError,
    mayShare: boolean,
  ): Promise<void> {
    const named = new Set(errors.map(({ pointer }) => /^\/jobs\/(\d+)/.exec(pointer)?.[1]));
    const isAlone = (index: number) => !mayShare || named.size === 0 || named.has(String(index));
    const left = (alone: boolean) =>
      jobs.filter(({ signal }, index) => isAlone(index) === alone && !signal?.aborted);
    await Promise.all([
      this.#answer(left(false), false),
      ...left(true).map(async (job) => await this.#answer([job])),
    ]);
  }

  /** Is aborted only when all callers have aborted. */
  async #together(jobs: readonly Waiting[], traceparent: string | null): Promise<JobReceipt[]> {
    const all = new AbortController();
    const onAbort = () => {
      if (jobs.every(({ signal }) => signal?.aborted)) all.abort();
    };
    for (const job of jobs) job.onAbort = onAbort;
    const json = `{"jobs":[${jobs.map((job) => job.json).join(',')}]}`;
    const answer = await this.#transport.call<{ jobs?: JobReceipt[] } | undefined>({
      method: 'POST',
      path: '/v1/jobs/batch',
      json,
      traceparent,
      signal: all.signal,
      repeatable: true,
      // There may be room for some of the jobs.
      isFinal: isQuota,
    });
    if (answer?.jobs?.length === jobs.length) return answer.jobs;
    throw new ProblemError(200, 'UNEXPECTED_ANSWER', 'the server answered for other jobs');
  }

  async #alone(request: Request): Promise<JobReceipt> {
    return await this.#post<JobReceipt>('/v1/jobs', request);
  }

  /** When the clock of the server refuses the request id, it is sent as a key. */
  async #post<T>(path: string, request: Request): Promise<T> {
    const call = { method: 'POST', path, repeatable: true, ...request } as const;
    try {
      return await this.#transport.call<T>(call);
    } catch (error) {
      if (!(error instanceof InvalidRequest) || !error.errors.some(namesRequestId)) throw error;
      const keyed = withKeys(JSON.parse(request.json) as Record<string, unknown>);
      return await this.#transport.call<T>({ ...call, json: jsonOf(keyed) });
    }
  }
}

/** The request itself is refused, so that single requests may have other answers. */
function isRefusal(error: unknown): error is ProblemError {
  if (!(error instanceof ProblemError)) return false;
  return isQuota(error) || !PASSING_STATUSES.includes(error.status);
}

function isQuota(error: Error): boolean {
  return error instanceof ProblemError && error.code === 'QUOTA_EXCEEDED';
}
