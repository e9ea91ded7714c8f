import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { gunzipSync, gzipSync } from 'node:zlib';
import { isRecord } from '../../core/values/record.ts';

export interface Sent {
  method: 'PUT' | 'POST' | 'DELETE';
  /** Below `/v1/workers/`. */
  path: string;
  /** JSON, or text that is sent as it is. */
  body?: object | string;
  /** Null sends none; default: that of the caller. */
  key?: string | null;
  gzip?: boolean;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  gzip: boolean;
}

const TIMEOUT_MS = 40_000;

/** HTTP calls to the server under test. */
export class Caller {
  readonly #url: string;
  readonly #key: string | null;
  readonly #agent: HttpAgent;
  readonly #request: typeof httpRequest;

  constructor(url: string, key: string | null) {
    const secure = new URL(url).protocol === 'https:';
    this.#url = url.replace(/\/+$/, '');
    this.#key = key;
    this.#agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
    this.#request = secure ? httpsRequest : httpRequest;
  }

  get hasKey(): boolean {
    return this.#key !== null;
  }

  close(): void {
    this.#agent.destroy();
  }

  async call({ method, path, body, key = this.#key, gzip = false, signal }: Sent): Promise<Answer> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const bytes = gzip ? gzipSync(text ?? '') : text;
    const headers = {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(gzip && { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' }),
    };
    return await new Promise<Answer>((resolve, reject) => {
      const sent = this.#request(
        `${this.#url}/v1/workers/${path}`,
        { method, headers, agent: this.#agent, timeout: TIMEOUT_MS, ...(signal && { signal }) },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const packed = answer.headers['content-encoding'] === 'gzip';
            const all = Buffer.concat(chunks);
            const plain = (packed ? gunzipSync(all) : all).toString('utf8');
            resolve({ status: answer.statusCode ?? 0, body: parsed(plain), gzip: packed });
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error(`no answer after ${TIMEOUT_MS / 1_000} s`)));
      sent.on('error', reject);
      sent.end(bytes);
    });
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
