import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { z } from 'zod';
import { isWorkerId } from '../../core/queue/worker.ts';
import {
  BeatBody,
  type DeliveredJob,
  RegisterBody,
  SayBody,
  TurnBody,
  type TurnReply,
} from '../../protocol/worker-protocol.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Call, CallKind, CallOf, Fault } from './calls.ts';
import { MemoryQueue } from './memory-queue.ts';

export interface PlayerOptions {
  port: number;
  /** The key that the worker must send. */
  key: string;
  leaseMs: number;
  clock: Clock;
}

/** Spoils answers: the first plan that matches is used up, unless it stays. */
export interface Plan {
  match(call: Call): boolean;
  fault: Fault;
  /** Before the call is processed, or after. */
  when: 'before' | 'after';
  stays?: boolean;
}

interface Answer {
  status: number;
  body: object | null;
}

const WAIT_MS_MAX = 20_000;
const SCHEMAS = { register: RegisterBody, turn: TurnBody, beat: BeatBody, say: SayBody } as const;
const NEW_CALL = {
  body: null,
  reply: null,
  fault: null,
  sent: [],
  endedAt: null,
  endedMs: null,
  status: null,
};
const GONE: Answer = { status: 410, body: { title: 'Gone', detail: 'the lease is over' } };

/**
 * A server that speaks the protocol from memory. It records each call, and spoils answers as its
 * plans say.
 */
export class Player {
  readonly calls: Call[] = [];
  readonly queue = new MemoryQueue();
  plans: Plan[] = [];
  readonly #options: PlayerOptions;
  readonly #server: Server;
  #count = 0;
  #listeners: (() => void)[] = [];
  /** By instance: jobs that its next turn brings besides. */
  readonly #extra = new Map<string, DeliveredJob>();
  /** By instance: ends its waiting turn. */
  readonly #waits = new Map<string, () => void>();

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<string> {
    this.#server.listen(this.#options.port, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** Resolves at the next call, or the next end of one. */
  async changed(): Promise<void> {
    await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  /** Jobs were added, or workers have news: waiting turns look again. */
  touch(): void {
    for (const resolve of this.#listeners.splice(0)) resolve();
  }

  /** Its next turn brings this job, although another one brought it before. */
  deliverAgain(instance: string, job: DeliveredJob): void {
    this.#extra.set(instance, job);
    this.touch();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, instance = '', action] =
      /^\/v1\/workers\/([^/]*)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
    const kind = kindOf(request.method ?? '', action);
    const call: Call = {
      ...NEW_CALL,
      kind,
      instance,
      problems: [],
      at: this.#next(),
      arrivedMs: this.#options.clock.monotonicMs(),
    };
    const bytes = await bytesOf(request);
    this.calls.push(call);
    response.once('close', () => this.#end(call));
    this.touch();
    const refused = this.#refusal(call, request, bytes);
    const before = refused ? null : this.#fault(call, 'before');
    if (before) return this.#spoil(call, response, before, null);
    const answer = refused ?? (await this.#answer(call, response));
    const after = this.#fault(call, 'after');
    if (after) return this.#spoil(call, response, after, answer);
    if (answer.status === 200) call.reply = answer.body as typeof call.reply;
    call.status = answer.status;
    send(request, response, answer);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #end(call: Call): void {
    call.endedAt ??= this.#next();
    call.endedMs ??= this.#options.clock.monotonicMs();
    this.touch();
  }

  #fault(call: Call, when: Plan['when']): Fault | null {
    const plan = this.plans.find((one) => one.when === when && one.match(call));
    if (!plan) return null;
    if (!plan.stays) this.plans = this.plans.filter((one) => one !== plan);
    return plan.fault;
  }

  #spoil(call: Call, response: ServerResponse, fault: Fault, answer: Answer | null): void {
    call.fault = fault;
    if (fault === 'hang') return;
    if (typeof fault === 'object') {
      call.status = fault.status;
      const body = { title: 'Fault', detail: `the played server answers ${fault.status}` };
      send(null, response, { status: fault.status, body });
    } else if (fault === 'cut') {
      const text = JSON.stringify(answer?.body ?? {});
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': text.length,
      });
      response.write(text.slice(0, -1), () => response.socket?.destroySoon());
    } else response.destroy();
    this.#end(call);
  }

  /** What is wrong with the call, whatever the state of its worker. */
  #refusal(call: Call, { headers, url, method }: IncomingMessage, bytes: Buffer): Answer | null {
    const refuse = (status: number, problem: string): Answer => {
      call.problems.push(problem);
      return { status, body: { title: 'Refused', detail: problem } };
    };
    if (call.kind === 'unknown') return refuse(404, `${method} ${url} is no call of the protocol`);
    if (headers.authorization !== `Bearer ${this.#options.key}`) {
      return refuse(401, 'a call without the header Authorization: Bearer KEY');
    }
    if (!isWorkerId(call.instance)) {
      return refuse(410, `the id ${call.instance} is not a UUID in lower case`);
    }
    if (call.kind === 'leave') return null;
    try {
      const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const schema: z.ZodType = SCHEMAS[call.kind];
      const { data, error } = schema.safeParse(JSON.parse(plain.toString('utf8')));
      if (!error) {
        call.body = data;
        return null;
      }
      const [issue] = error.issues;
      return refuse(400, `${call.kind}: ${issue?.path.join('.')} ${issue?.message}`);
    } catch {
      return refuse(400, `${call.kind}: the body is not JSON`);
    }
  }

  async #answer(call: Call, response: ServerResponse): Promise<Answer> {
    const { queue } = this;
    const { instance } = call;
    if (call.kind === 'register' && call.body) {
      const { leaseMs = this.#options.leaseMs } = call.body;
      if (!queue.register(instance, call.body, leaseMs)) return GONE;
      const waitMs = Math.min(WAIT_MS_MAX, Math.floor(leaseMs / 2));
      return ok({ leaseMs, beatMs: Math.floor(leaseMs / 3), waitMs });
    }
    if (!queue.workers.has(instance)) return GONE;
    if (call.kind === 'turn') return await this.#turn(call, response);
    if (call.kind === 'beat' && call.body) return ok(queue.beat(instance, call.body));
    if (call.kind === 'say') return ok({ stale: [] });
    queue.expire(instance);
    return { status: 204, body: null };
  }

  async #turn(call: CallOf<'turn'>, response: ServerResponse): Promise<Answer> {
    const { queue } = this;
    const { instance, body } = call;
    const { outcomes = [], room = 0, waitMs = 0, holding } = body ?? {};
    const settled = queue.settle(instance, outcomes);
    const isOpen = () => !response.destroyed && queue.workers.has(instance);
    const jobs = holding
      ? queue.unheld(instance, [...holding, ...outcomes], room)
      : queue.claim(instance, room);
    const waits = jobs.length === 0 && holding === undefined && waitMs > 0 && !this.#news(instance);
    if (waits) {
      await this.#wait(instance, waitMs, () => !isOpen() || this.#hasWork(instance, room));
      if (!queue.workers.has(instance)) return GONE;
      if (isOpen()) jobs.push(...queue.claim(instance, room));
    }
    const extra = room > 0 ? this.#extra.get(instance) : undefined;
    if (extra) {
      this.#extra.delete(instance);
      jobs.push(extra);
    }
    call.sent = jobs;
    const worker = queue.workers.get(instance);
    const reply: TurnReply = { settled, jobs, beat: worker?.news ?? false };
    if (worker) worker.news = false;
    return ok(reply);
  }

  #news(instance: string): boolean {
    return this.queue.workers.get(instance)?.news ?? false;
  }

  #hasWork(instance: string, room: number): boolean {
    const has = this.queue.hasJobFor(instance) || this.#extra.has(instance);
    return this.#news(instance) || (room > 0 && has);
  }

  /** A newer wait of the same worker ends the older one. */
  async #wait(instance: string, waitMs: number, isOver: () => boolean): Promise<void> {
    const over = new AbortController();
    const end = () => {
      over.abort();
      this.touch();
    };
    this.#waits.get(instance)?.();
    this.#waits.set(instance, end);
    const timer = setTimeout(end, Math.min(waitMs, WAIT_MS_MAX));
    while (!over.signal.aborted && !isOver()) await this.changed();
    clearTimeout(timer);
    if (this.#waits.get(instance) === end) this.#waits.delete(instance);
  }
}

function kindOf(method: string, action: string | undefined): CallKind {
  if (action === undefined)
    return method === 'PUT' ? 'register' : method === 'DELETE' ? 'leave' : 'unknown';
  if (method !== 'POST') return 'unknown';
  return action === 'turn' || action === 'beat' || action === 'say' ? action : 'unknown';
}

function ok(body: object): Answer {
  return { status: 200, body };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function send(request: IncomingMessage | null, response: ServerResponse, answer: Answer): void {
  const { status, body } = answer;
  if (body === null) return void response.writeHead(status).end();
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  const packs = /\bgzip\b/.test(String(request?.headers['accept-encoding'] ?? ''));
  const text = Buffer.from(JSON.stringify(body));
  const bytes = packs ? gzipSync(text) : text;
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': bytes.length,
      ...(packs && { 'content-encoding': 'gzip' }),
    })
    .end(bytes);
}
