import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { isRecord } from '../../core/values/record.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { VERSION } from '../../version.ts';

/** A download whose bytes pause for longer has failed. */
const SILENT_MS = 30_000;
/** Shorter bodies do not become shorter on the wire. */
const GZIP_MIN_BYTES = 4_096;
const compress = promisify(gzip);
const uncompress = promisify(gunzip);

/** The server cannot be reached, or cannot answer now: try again. */
export class ServerUnavailable extends DatabaseUnavailable {
  override name = 'ServerUnavailable';
}

/** The server does not know this instance any more. */
export class InstanceGone extends Error {
  override name = 'InstanceGone';
}

/** The server refused the call; to repeat it changes nothing. */
export class CallRefused extends Error {
  override name = 'CallRefused';
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

export interface Call {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  path: string;
  body?: object;
  /** A call without an answer after this time has failed. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** HTTP calls of a worker to its server, on connections that stay open. */
export class RemoteCalls {
  readonly #base: string;
  readonly #key: string | null;
  readonly #agent: HttpAgent;
  readonly #request: typeof httpRequest | typeof httpsRequest;

  constructor(url: string, key: string | null) {
    const secure = new URL(url).protocol === 'https:';
    this.#base = url.replace(/\/+$/, '');
    this.#key = key;
    this.#agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
    this.#request = secure ? httpsRequest : httpRequest;
  }

  async call<Answer>(call: Call): Promise<Answer> {
    const { status, text } = await this.#send(call);
    if (status === 204) return undefined as Answer;
    const body = parse(text);
    if (status >= 200 && status < 300) return body as Answer;
    throw this.#failed(status, body);
  }

  /** A body of any length, as it arrives. A cut one ends early: the caller must know its hash. */
  async download(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const how = { agent: this.#agent, signal, headers: this.#headers() };
      const sent = this.#request(`${this.#base}${path}`, how, resolve);
      sent.setTimeout(SILENT_MS, () => sent.destroy(new Error(`silent for ${SILENT_MS} ms`)));
      sent.on('error', (error) => reject(unanswered(error)));
      sent.end();
    });
    const { statusCode: status = 0 } = answer;
    if (status !== 200) throw this.#failed(status, parse(await read(answer)));
    return answer as AsyncIterable<Uint8Array>;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send({ method, path, body, timeoutMs, signal }: Call) {
    const plain = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const packs = plain !== undefined && plain.length >= GZIP_MIN_BYTES;
    const text = packs ? await compress(plain) : plain;
    return await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(unanswered(error));
      };
      const sent = this.#request(
        `${this.#base}${path}`,
        {
          method,
          agent: this.#agent,
          ...(signal && { signal }),
          headers: {
            ...this.#headers(),
            'accept-encoding': 'gzip',
            ...(packs && { 'content-encoding': 'gzip' }),
            ...(text && { 'content-type': 'application/json', 'content-length': text.length }),
          },
        },
        (answer) => {
          read(answer).then((words) => {
            clearTimeout(timer);
            resolve({ status: answer.statusCode ?? 0, text: words });
          }, fail);
        },
      );
      const timer = setTimeout(
        () => sent.destroy(new Error(`none after ${timeoutMs / 1_000} s`)),
        timeoutMs,
      );
      sent.on('error', fail);
      sent.end(text);
    });
  }

  #failed(status: number, body: unknown): Error {
    if (status !== 401 || this.#key !== null) return failed(status, body);
    return new CallRefused(status, `${this.#base} requires an API key: set LONGSHORE_API_KEY`);
  }

  #headers(): Record<string, string> {
    return {
      'user-agent': `longshore-worker/${VERSION}`,
      ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
    };
  }
}

function unanswered(error: Error): ServerUnavailable {
  return new ServerUnavailable(`no answer of the server: ${error.message}`, { cause: error });
}

function failed(status: number, body: unknown): Error {
  const detail = isRecord(body) ? body['detail'] : undefined;
  const words = typeof detail === 'string' ? detail : `the server answered ${status}`;
  if (status === 410) return new InstanceGone(words);
  if (status === 429 || status >= 500 || status === 408) return new ServerUnavailable(words);
  return new CallRefused(status, words);
}

async function read(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  // A cut answer ends like a whole one, unless its length is known.
  if (!answer.complete) throw new Error('the answer was cut off');
  const body = Buffer.concat(chunks);
  const packed = answer.headers['content-encoding'] === 'gzip';
  return (packed ? await uncompress(body) : body).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ServerUnavailable(
      'the answer is not JSON: is this the address of a Longshore server?',
    );
  }
}
