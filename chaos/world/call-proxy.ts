import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallName } from '../check/call-faults.ts';

/** What happens to one call on its way. */
export type Fate =
  | 'pass'
  /** The connection breaks, and no server gets it. */
  | 'lose-request'
  /** It is carried out, and the connection breaks before its answer arrives. */
  | 'lose-answer'
  /** It is carried out, and the connection is half-closed in the middle of its answer. */
  | 'half-answer'
  /** Two servers get it; the worker gets one of the answers. */
  | 'twice'
  /** It arrives later. */
  | { delayMs: number }
  /** It is carried out at once, and its answer arrives later. */
  | { answerAfterMs: number }
  /** The connection breaks at once, and the call arrives later all the same. */
  | { lateMs: number };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * The load balancer between one remote worker and the APIs. It gives each call to the next API that
 * accepts a connection, and mistreats calls.
 */
export class CallProxy {
  /** By slot: where each API listens. */
  readonly targets = new Map<string, number>();
  /** What happens to calls of one kind; null: no fault is busy with this proxy. */
  spoilt: { call: CallName; next(): Fate } | null = null;
  readonly #server: Server;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #open = new Map<string, number>();
  #turn = 0;
  #mistreated = 0;
  #delayed = 0;

  constructor() {
    this.#server = createServer((call, answer) => {
      answer.on('error', () => undefined);
      read(call)
        .then(async (body) => {
          const hits = this.spoilt !== null && call.url?.endsWith(`/${this.spoilt.call}`);
          const fate = (hits && this.spoilt?.next()) || 'pass';
          if (fate !== 'pass') this.#mistreated += 1;
          if (fate === 'lose-request') return void call.socket.destroy();
          const { status, headers, body: text } = await this.#meet(call, body, fate);
          if (fate === 'lose-answer') return void call.socket.destroy();
          const { 'transfer-encoding': _chunked, connection: _open, ...kept } = headers;
          answer.writeHead(status, { ...kept, 'content-length': text.length });
          if (fate !== 'half-answer') return void answer.end(text);
          answer.write(text.subarray(0, text.length / 2), () => call.socket.end());
        })
        .catch(() => call.socket.destroy());
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many calls it did not just pass on. */
  get mistreated(): number {
    return this.#mistreated;
  }

  /** How many calls this API has not answered yet. */
  openAt(slot: string): number {
    return this.#open.get(slot) ?? 0;
  }

  /** How many workers wait for a call that is delayed. */
  get delayed(): number {
    return this.#delayed;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #meet(call: IncomingMessage, body: Buffer, fate: Fate): Promise<Answer> {
    if (typeof fate === 'string') {
      const second = fate === 'twice' ? this.#pass(call, body, false) : null;
      second?.catch(() => undefined);
      return await this.#pass(call, body, fate === 'pass');
    }
    if ('lateMs' in fate) {
      this.#after(fate.lateMs)
        .then(async () => await this.#pass(call, body, false))
        .catch(() => undefined);
      throw new Error('lost');
    }
    this.#delayed += 1;
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(new Error('left'));
    call.socket.once('close', leave);
    const arrived =
      'delayMs' in fate
        ? this.#after(fate.delayMs).then(async () => await this.#pass(call, body, false))
        : this.#pass(call, body, false).then(async (answer) => {
            await this.#after(fate.answerAfterMs);
            return answer;
          });
    arrived.catch(() => undefined);
    return await Promise.race([arrived, left.promise]).finally(() => {
      call.socket.off('close', leave);
      this.#delayed -= 1;
    });
  }

  async #after(ms: number): Promise<void> {
    await new Promise<void>((done) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        done();
      }, ms);
      this.#timers.add(timer);
    });
  }

  /** An API that is gone refuses connections; the next one gets the call. */
  async #pass(call: IncomingMessage, body: Buffer, abortable: boolean): Promise<Answer> {
    const targets = [...this.targets];
    const first = (this.#turn += 1);
    for (let tries = 0; tries < targets.length; tries += 1) {
      const [slot, port] = targets[(first + tries) % targets.length] ?? ['', 0];
      this.#open.set(slot, this.openAt(slot) + 1);
      const answer = await send(port, call, body, abortable)
        .catch((error: unknown) => {
          if ((error as { code?: string }).code === 'ECONNREFUSED') return null;
          throw error;
        })
        .finally(() => this.#open.set(slot, this.openAt(slot) - 1));
      if (answer) return answer;
    }
    return { status: 502, headers: {}, body: Buffer.from('{"detail":"no server"}') };
  }
}

/** `abortable`: when the worker leaves, the API sees it. */
async function send(
  port: number,
  { method, url: path, headers, socket }: IncomingMessage,
  body: Buffer,
  abortable: boolean,
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, method, path, headers, agent: false };
    const sent = request(target, (answer) => {
      read(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
        reject,
      );
    });
    const abort = () => sent.destroy();
    if (abortable) socket.once('close', abort);
    sent.on('close', () => socket.off('close', abort));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  if (!stream.complete) throw new Error('cut off');
  return Buffer.concat(chunks);
}
