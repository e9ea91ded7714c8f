import { fetchSend, type Incoming, NoAnswer, type Outgoing, type Send } from './send.ts';

/**
 * The parts of Node that are used. They are no imports, since the client also runs where there is
 * no Node, and its types need none of Node's.
 */
interface NodeProcess {
  versions?: { bun?: string; deno?: string };
  getBuiltinModule?(name: string): Http;
}

interface Http {
  request(
    url: string,
    options: Pick<Outgoing, 'method' | 'headers'>,
    onResponse: (response: Response) => void,
  ): Request;
}

interface Request {
  on(event: 'error', listener: (error: Error) => void): void;
  end(body?: string): void;
  destroy(): void;
}

interface Response {
  statusCode?: number;
  headers: Record<string, string | string[] | undefined>;
  setEncoding(encoding: 'utf8'): void;
  on(event: 'data', listener: (part: string) => void): void;
  on(event: 'end', listener: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}

/** Longer timers fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/**
 * Node's HTTP client, which takes a third of the CPU of `fetch`. Its global agents keep connections
 * open for some seconds, and these do not keep the process alive. Other runtimes use `fetch`.
 * `fetch` also follows redirects.
 */
export function nodeSend(viaFetch: Send = fetchSend(fetch)): Send {
  const { process } = globalThis as { process?: NodeProcess };
  const isNode = process?.getBuiltinModule && !process.versions?.bun && !process.versions?.deno;
  if (!isNode) return viaFetch;
  return async (request) => {
    const http = process.getBuiltinModule?.(
      request.url.startsWith('https:') ? 'node:https' : 'node:http',
    );
    if (!http) return await viaFetch(request);
    const answer = await exchange(http, request);
    return answer.status >= 300 && answer.status < 400 ? await viaFetch(request) : answer;
  };
}

async function exchange(http: Http, outgoing: Outgoing): Promise<Incoming> {
  const { url, method, headers, body, signal, timeoutMs } = outgoing;
  signal?.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => (text += part));
      response.on('error', fail);
      response.on('end', () => {
        finish();
        resolve({ status: response.statusCode ?? 0, headers: readable(response), text });
      });
    });
    const timer = setTimeout(
      () => fail(new NoAnswer(timeoutMs)),
      Math.min(timeoutMs, TIMER_MAX_MS),
    );
    const stop = () => fail(signal?.reason as Error);
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    };
    const fail = (error: Error) => {
      finish();
      reject(error);
      request.destroy();
    };
    signal?.addEventListener('abort', stop);
    request.on('error', fail);
    request.end(body);
  });
}

function readable({ headers }: Response): Incoming['headers'] {
  return {
    get(name) {
      const value = headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
  };
}
