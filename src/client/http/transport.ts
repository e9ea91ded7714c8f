import { strictJson } from '../../core/values/strict-json.ts';
import { activeTraceparent } from '../../signals/active-trace.ts';
import { ProblemError, ServerUnreachable } from './errors.ts';
import { readAnswer } from './answer.ts';
import { PASSING_STATUSES, pause, pauseMs, retryAfterOf } from './retry.ts';

export interface TransportOptions {
  url: string;
  apiKey?: string | null | undefined;
  /** Act for this tenant: for admin keys of the default tenant only. */
  tenant?: string | null | undefined;
  /** The limit of one try, not of all of them. */
  timeoutMs?: number | undefined;
  /** How often a request that is safe to repeat is sent again. */
  retries?: number | undefined;
  fetch?: typeof fetch | undefined;
}

interface Address {
  path: string;
  query?: URLSearchParams;
}

export interface Call extends Address {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  /** Sending it twice has the effect of sending it once. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
}

/** A request whose answer is read while it is still being written. */
export interface OpenCall extends Address {
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
}

export interface Failure {
  error: ProblemError | ServerUnreachable;
  /** Whether the next try may go better. */
  passing: boolean;
  retryAfterMs: number | null;
}

/** Sends a request and turns the answer into a value or an error; tries again where it is safe. */
export class Transport {
  readonly url: string;
  readonly #headers: Record<string, string>;
  readonly #tenant: string | null;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: TransportOptions) {
    if (!URL.canParse(options.url)) throw new TypeError(`not a URL: ${options.url}`);
    this.url = options.url.replace(/\/+$/, '');
    this.#headers = { accept: 'application/json' };
    if (options.apiKey) this.#headers['authorization'] = `Bearer ${options.apiKey}`;
    this.#tenant = options.tenant ?? null;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#retries = options.retries ?? 3;
    // Some implementations insist on being called without a receiver.
    const custom = options.fetch;
    this.#fetch = custom ? (input, init) => custom(input, init) : fetch;
  }

  async call<T>(call: Call): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#try(call);
      if (!('error' in outcome)) return outcome.value as T;
      const mayRepeat = call.repeatable && outcome.passing && attempt <= this.#retries;
      const delayMs = mayRepeat ? pauseMs(attempt, outcome.retryAfterMs) : null;
      if (delayMs === null) throw outcome.error;
      await pause(delayMs, call.signal);
    }
  }

  /** Answers as soon as the server does, with the body still to be read: that may take for ever. */
  async open(call: OpenCall): Promise<{ value: Response } | Failure> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#timeoutMs);
    const init = { headers: { ...this.#headers, ...call.headers } };
    try {
      return await this.#exchange(call, init, limit.signal, async (response) =>
        response.ok ? { value: response } : judge<Response>(response, await response.text()),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #try(call: Call): Promise<{ value: unknown } | Failure> {
    const init = { method: call.method, ...this.#content(call) };
    const limit = AbortSignal.timeout(this.#timeoutMs);
    return await this.#exchange(call, init, limit, async (response) =>
      judge(response, await response.text()),
    );
  }

  async #exchange<T>(
    call: Address & { signal?: AbortSignal | undefined },
    init: RequestInit,
    limit: AbortSignal,
    read: (response: Response) => Promise<T | Failure>,
  ): Promise<T | Failure> {
    const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit;
    try {
      return await read(await this.#fetch(this.#address(call), { ...init, signal }));
    } catch (error) {
      // The caller has lost interest, which is no fault of the server.
      call.signal?.throwIfAborted();
      const why = limit.aborted ? `no answer within ${this.#timeoutMs} ms` : reasonOf(error);
      const unreachable = new ServerUnreachable(this.url, why, error);
      return { error: unreachable, passing: true, retryAfterMs: null };
    }
  }

  #address({ path, query }: Address): string {
    const asked = new URLSearchParams(query);
    if (this.#tenant !== null) asked.set('tenant', this.#tenant);
    const search = asked.size === 0 ? '' : `?${asked.toString()}`;
    return `${this.url}${path}${search}`;
  }

  #content({ body }: Call): { headers: Record<string, string>; body?: string } {
    if (body === undefined) return { headers: this.#headers };
    // So that a job that is started within a span of the application is linked to it.
    const traceparent = activeTraceparent();
    const place: Record<string, string> = traceparent === null ? {} : { traceparent };
    return {
      headers: { ...this.#headers, ...place, 'content-type': 'application/json' },
      body: bodyOf(body),
    };
  }
}

/** A request that is not what its caller meant is not sent. */
function bodyOf(body: unknown): string {
  try {
    return strictJson(body);
  } catch (error) {
    throw new TypeError(`the request is no JSON: ${reasonOf(error)}`, { cause: error });
  }
}

function judge<T>(response: Response, text: string): { value: T } | Failure {
  const retryAfterMs = retryAfterOf(response.headers);
  const answer = readAnswer(response, text, retryAfterMs);
  if (!(answer instanceof ProblemError)) return { value: answer as T };
  return { error: answer, passing: PASSING_STATUSES.includes(response.status), retryAfterMs };
}

/** `fetch failed` says nothing; the reason is further down, sometimes in several copies. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message;
}
