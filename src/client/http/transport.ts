import { strictJson } from '../../core/values/strict-json.ts';
import { activeTraceparent } from './active-trace.ts';
import { ProblemError, ServerUnreachable } from './errors.ts';
import { readAnswer } from './answer.ts';
import { type OptionNames, refuseUnknownOptions } from './known-options.ts';
import { nodeSend } from './node-send.ts';
import { PASSING_STATUSES, pause, pauseMs, retryAfterOf } from './retry.ts';
import { fetchSend, type Incoming, NoAnswer, type Send } from './send.ts';

export interface TransportOptions {
  url: string;
  apiKey?: string | null | undefined;
  /** Act for this tenant; only for admin keys of the default tenant. */
  tenant?: string | null | undefined;
  /** The limit of one try. */
  timeoutMs?: number | undefined;
  /** How often a request that is safe to repeat is sent again. */
  retries?: number | undefined;
  /** Used for all requests. By default Node's HTTP client, elsewhere the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

const OPTIONS: OptionNames<TransportOptions> = {
  url: true,
  apiKey: true,
  tenant: true,
  timeoutMs: true,
  retries: true,
  fetch: true,
};
const UPLOAD_TIMEOUT_MS = 600_000;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

function checkedUrl(url: string | undefined): string {
  const example = 'such as "http://127.0.0.1:4400"';
  if (!url) throw new TypeError(`url is required, ${example}`);
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new TypeError(`not a URL: ${url}; it begins with http:// or https://, ${example}`);
}

interface Address {
  path: string;
  query?: URLSearchParams;
  /** It is about the key, whatever tenant the client acts for. */
  ofKey?: boolean;
}

export interface Call extends Address {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  /** The body as text, instead of `body`. */
  json?: string;
  /** By default that of the active span. */
  traceparent?: string | null;
  /** Sent as a header, so that a repeat has no second effect. */
  idempotencyKey?: string;
  /** Whether sending it twice has the same effect as sending it once. */
  repeatable: boolean;
  /** Whether it is not repeated after this error. */
  isFinal?: (error: Error) => boolean;
  signal?: AbortSignal | undefined;
}

/** A request whose response is streamed. */
export interface OpenCall extends Address {
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
}

export interface Failure {
  error: ProblemError | ServerUnreachable;
  /** Whether a repetition may succeed. */
  passing: boolean;
  retryAfterMs: number | null;
}

/**
 * Sends a request and converts the response to a value or an error; repeats it where that is safe.
 */
export class Transport {
  readonly url: string;
  readonly #headers: Record<string, string>;
  readonly #tenant: string | null;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;
  readonly #send: Send;

  constructor(options: TransportOptions) {
    refuseUnknownOptions('new Longshore', options ?? {}, OPTIONS);
    this.url = checkedUrl(options?.url).replace(/\/+$/, '');
    this.#headers = { accept: 'application/json' };
    // A key from a file may end in a line break.
    const apiKey = options.apiKey?.trim();
    if (apiKey && !VISIBLE_ASCII.test(apiKey)) {
      throw new TypeError('apiKey has a character that a header cannot have, such as a line break');
    }
    if (apiKey) this.#headers['authorization'] = `Bearer ${apiKey}`;
    this.#tenant = options.tenant ?? null;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#retries = options.retries ?? 3;
    // Some implementations must be called without a receiver.
    const custom = options.fetch;
    this.#fetch = custom ? (input, init) => custom(input, init) : fetch;
    this.#send = custom ? fetchSend(this.#fetch) : nodeSend(fetchSend(this.#fetch));
  }

  async call<T>(call: Call): Promise<T> {
    const content = this.#content(call);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#try(call, content);
      if (!('error' in outcome)) return outcome.value as T;
      const { error, passing, retryAfterMs } = outcome;
      const mayRepeat =
        call.repeatable && passing && attempt <= this.#retries && !call.isFinal?.(error);
      const delayMs = mayRepeat ? pauseMs(attempt, retryAfterMs) : null;
      if (delayMs === null) throw fromHere(error);
      await pause(delayMs, call.signal);
    }
  }

  /** Sends bytes as they are; storing the same content twice has one effect, so it is repeated. */
  async upload<T>(address: Address, body: Blob): Promise<T> {
    const headers = { ...this.#headers, 'content-type': 'application/octet-stream' };
    for (let attempt = 1; ; attempt += 1) {
      const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
      const sent = { method: 'POST', headers, body, signal };
      const outcome = await this.#fetch(this.#address(address), sent).then(
        async (response) => {
          const { status, headers: received } = response;
          return judge<T>(this.url, { status, headers: received, text: await response.text() });
        },
        (error: unknown) => this.#unreachable(undefined, error),
      );
      if (!('error' in outcome)) return outcome.value;
      const { error, passing, retryAfterMs } = outcome;
      const delayMs = passing && attempt <= this.#retries ? pauseMs(attempt, retryAfterMs) : null;
      if (delayMs === null) throw error;
      await pause(delayMs, undefined);
    }
  }

  /** Resolves with the headers; the body may be endless. */
  async open(call: OpenCall): Promise<{ value: Response } | Failure> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new NoAnswer(this.#timeoutMs)), this.#timeoutMs);
    const headers = { ...this.#headers, ...call.headers };
    const signal = call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal;
    try {
      const response = await this.#fetch(this.#address(call), { headers, signal });
      if (response.ok) return { value: response };
      return judge<Response>(this.url, {
        status: response.status,
        headers: response.headers,
        text: await response.text(),
      });
    } catch (error) {
      return this.#unreachable(call.signal, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #try(call: Call, content: Content): Promise<{ value: unknown } | Failure> {
    const { method, signal } = call;
    const url = this.#address(call);
    try {
      return judge(
        this.url,
        await this.#send({ url, method, ...content, signal, timeoutMs: this.#timeoutMs }),
      );
    } catch (error) {
      return this.#unreachable(signal, error);
    }
  }

  #unreachable(signal: AbortSignal | undefined, error: unknown): Failure {
    // An abort by the caller is no error of the server.
    signal?.throwIfAborted();
    const unreachable = new ServerUnreachable(this.url, reasonOf(error), error);
    return { error: unreachable, passing: true, retryAfterMs: null };
  }

  #address({ path, query, ofKey = false }: Address): string {
    const tenant = ofKey ? null : this.#tenant;
    if (query === undefined && tenant === null) return `${this.url}${path}`;
    const asked = new URLSearchParams(query);
    if (tenant !== null) asked.set('tenant', tenant);
    const search = asked.size === 0 ? '' : `?${asked.toString()}`;
    return `${this.url}${path}${search}`;
  }

  #content({ body, json, idempotencyKey, traceparent = activeTraceparent() }: Call): Content {
    const text = json ?? (body === undefined ? undefined : jsonOf(body));
    if (text === undefined) return { headers: this.#headers };
    // Links a job to the span of the application that enqueues it.
    const traceHeaders: Record<string, string> = traceparent === null ? {} : { traceparent };
    const keyHeaders: Record<string, string> =
      idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return {
      headers: {
        ...this.#headers,
        ...traceHeaders,
        ...keyHeaders,
        'content-type': 'application/json',
      },
      body: text,
    };
  }
}

interface Content {
  headers: Record<string, string>;
  body?: string;
}

/** A value that JSON cannot represent is refused. */
export function jsonOf(body: unknown): string {
  try {
    return strictJson(body);
  } catch (error) {
    throw new TypeError(`the request is not valid JSON: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * A stack has ten lines. One from here has room for the line of the caller; what read the answer tells
 * the caller nothing.
 */
function fromHere(error: Error): Error {
  const { captureStackTrace } = Error as { captureStackTrace?(of: Error, above: unknown): void };
  captureStackTrace?.(error, fromHere);
  return error;
}

function judge<T>(url: string, { status, headers, text }: Incoming): { value: T } | Failure {
  const retryAfterMs = retryAfterOf(headers);
  const answer = readAnswer(url, status, text, retryAfterMs);
  if (!(answer instanceof ProblemError)) return { value: answer as T };
  return { error: answer, passing: PASSING_STATUSES.includes(status), retryAfterMs };
}

/** `fetch failed` has no information; the reason is in its causes, sometimes repeatedly. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message;
}
