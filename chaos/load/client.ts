import { setTimeout as pause } from 'node:timers/promises';
import { isJobId, makeJobId } from '../../src/core/job/job-id.ts';
import type { Call } from '../history/history.ts';
import type { Random } from '../random.ts';
import type { Answer } from './answer.ts';
import { Batches } from './batches.ts';
import { Caller, type CallerOptions } from './caller.ts';
import { type Mix, type Request, Requests } from './requests.ts';

export interface ClientOptions extends CallerOptions {
  name: string;
  mix: Mix;
}

/** How often each thing is done; enqueues of one job are the rest. */
const HABITS = {
  one: 70,
  get: 8,
  cancel: 6,
  batch: 5,
  race: 3,
  repeat: 3,
  hold: 2,
  signal: 6,
  follow: 8,
  clash: 2,
  nonsense: 2,
};
const REMEMBERED = 200;

/**
 * A client as people write them: it does one thing after the other, asks another server when one does
 * not answer, and sends a request of unknown result again with the same idempotency key. Everything
 * it does and hears is written down.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #random: Random;
  readonly #requests: Requests;
  readonly #caller: Caller;
  readonly batches: Batches;
  readonly #acknowledged: { id: string; does: string }[] = [];
  readonly #keyed: { key: string; request: Request }[] = [];
  readonly #held: string[] = [];
  /** Jobs that wait for a signal. */
  readonly #waiting: string[] = [];
  #keys = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#random = options.random;
    this.#requests = new Requests(options.name, options.random);
    this.#caller = new Caller(options);
    const parts = { random: options.random, requests: this.#requests, caller: this.#caller };
    this.batches = new Batches(options.name, parts);
  }

  /** How many jobs were acknowledged. */
  acknowledged = 0;

  async act(): Promise<void> {
    switch (this.#random.weighted(HABITS)) {
      case 'one': {
        const does = this.#random.weighted(this.#options.mix);
        return does === 'batch' ? await this.batches.act() : await this.enqueue(does);
      }
      case 'batch':
        return await this.#batch(this.#random.int(20, 60));
      case 'cancel':
        return await this.#cancel();
      case 'race':
        return await this.#race();
      case 'get':
        return await this.#get();
      case 'repeat':
        return await this.#repeat();
      case 'clash':
        return await this.#clash();
      case 'nonsense':
        return await this.#nonsense();
      case 'hold':
        return await this.#hold();
      case 'signal':
        return await this.#signal();
      case 'follow':
        return await this.#follow();
    }
  }

  /** Nine of ten bring a key and insist; the others may never know. */
  async enqueue(does: Request['body']['params']['does']): Promise<void> {
    const request = this.#requests.make(does);
    if (!this.#random.chance(0.9)) return void (await this.#post([request], null));
    const key = this.#newKey();
    const answer = await this.#insist([request], key);
    if (answer.phase === 'ok') remember(this.#keyed, { key, request });
    // Half of the signals come before the job waits.
    if (does === 'wait' && this.#random.chance(0.5)) await this.#signal();
  }

  /** A job with so many children. */
  async fanOut(children: number): Promise<void> {
    await this.#insist([this.#requests.fanOut(children)], this.#newKey());
  }

  /** A job that names its deployment. */
  async pin(number: number): Promise<void> {
    await this.#insist([this.#requests.pinned(number)], this.#newKey());
  }

  /** Jobs that are stored together, or not at all. */
  async #batch(count: number): Promise<void> {
    const kind = this.#random.weighted({ plain: 2, ok: 2, grouped: 1 });
    const one = () => (kind === 'plain' ? this.#requests.plain() : this.#requests.make(kind));
    await this.#post(Array.from({ length: count }, one), null);
  }

  /** A job that works for a while, and is cancelled after so long. */
  async startAndCancel(afterMs: number, request = this.#requests.longToCancel()): Promise<void> {
    const answer = await this.#insist([request], this.#newKey());
    if (answer.phase !== 'ok') return;
    await pause(afterMs);
    for (const { id } of answer.jobs) await this.#until({ name: 'cancel', job: id });
  }

  /** What is still held may go. */
  async releaseAll(): Promise<void> {
    for (const id of this.#held.splice(0)) await this.#until({ name: 'release', job: id });
  }

  /** What still waits gets its signal. */
  async signalAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#signal();
  }

  /** The newest job that waits gets its signal; now and then twice. */
  async #signal(): Promise<void> {
    const job = this.#waiting.pop();
    if (job === undefined) return;
    const call = { name: 'signal', job, token: `token of ${job}` } as const;
    await this.#until(call);
    if (this.#random.chance(0.2)) await this.#ask(call);
  }

  /** A job after one to three of the latest jobs, which may run, wait or have ended; often a chain. */
  async #follow(): Promise<void> {
    const latest = this.#acknowledged.slice(-8).map(({ id }) => id);
    const parents = new Set<string>();
    const count = Math.min(latest.length, this.#random.int(1, 3));
    while (parents.size < count) parents.add(this.#random.pick(latest));
    if (parents.size > 0)
      await this.#insist([this.#requests.follower([...parents])], this.#newKey());
  }

  async #cancel(): Promise<void> {
    // Slow jobs are the ones that can be caught in the act.
    const slow = this.#acknowledged.filter(({ does }) => does === 'slow').slice(-5);
    const candidates = slow.length > 0 && this.#random.chance(0.7) ? slow : this.#acknowledged;
    const job = candidates.length > 0 ? this.#random.pick(candidates.slice(-20)) : null;
    if (job) await this.#ask({ name: 'cancel', job: job.id });
  }

  /** Cancelled just when it fails: one of the two has to win. */
  async #race(): Promise<void> {
    const request = this.#requests.failing(this.#random.int(3, 6) * 100);
    const holdMs = request.body.params.holdMs ?? 0;
    await this.startAndCancel(holdMs + this.#random.int(-50, 300), request);
  }

  async #get(): Promise<void> {
    const job = this.#acknowledged.at(-1);
    if (job) await this.#ask({ name: 'get', job: job.id });
  }

  /** The same request again, long after it was answered. */
  async #repeat(): Promise<void> {
    const earlier = this.#keyed.length > 0 ? this.#random.pick(this.#keyed) : null;
    if (earlier) await this.#post([earlier.request], earlier.key);
  }

  /** A key that was used before, with other params. */
  async #clash(): Promise<void> {
    const keyed = this.#keyed.filter(({ key }) => !isJobId(key));
    const earlier = keyed.length > 0 ? this.#random.pick(keyed) : null;
    if (!earlier) return;
    const { body, wanted } = this.#requests.make('ok');
    const { definitionKey } = earlier.request.body;
    await this.#post([{ body: { ...body, definitionKey }, wanted }], earlier.key);
  }

  /** Refused for certain, so no job may come of it. */
  async #nonsense(): Promise<void> {
    const { body, wanted } = this.#requests.make('ok');
    await this.#post([{ body: { ...body, maxAttempts: -1 }, wanted }], null);
  }

  async #hold(): Promise<void> {
    const { body, wanted } = this.#requests.make('ok');
    const request = { body: { ...body, hold: true }, wanted };
    const answer = await this.#insist([request], this.#newKey());
    if (answer.phase === 'ok') this.#held.push(...answer.jobs.map(({ id }) => id));
    const released = this.#held.length > 3 ? this.#held.shift() : undefined;
    if (released !== undefined) await this.#until({ name: 'release', job: released });
  }

  /** Sends it until a server accepts or refuses it. */
  async #insist(requests: Request[], key: string): Promise<Answer> {
    return await this.#caller.insist(async () => await this.#post(requests, key));
  }

  async #until(call: Extract<Call, { job: string }>): Promise<void> {
    await this.#caller.insist(async () => await this.#ask(call));
  }

  async #post(requests: Request[], key: string | null): Promise<Answer> {
    const call: Call = { name: 'enqueue', key, jobs: requests.map(({ wanted }) => wanted) };
    const [only] = requests;
    const single = only && requests.length === 1;
    const path = single ? '/v1/jobs' : '/v1/jobs/batch';
    const body = single
      ? {
          ...only.body,
          ...(key !== null && { [isJobId(key) ? 'requestId' : 'idempotencyKey']: key }),
        }
      : { jobs: requests.map((request) => request.body) };
    const answer = await this.#caller.once(call, { path, body });
    if (answer.phase === 'ok') {
      this.acknowledged += answer.jobs.length;
      for (const [index, { id }] of answer.jobs.entries()) {
        const does = requests[index]?.wanted.does ?? '';
        remember(this.#acknowledged, { id, does });
        if (does === 'wait' && !this.#waiting.includes(id)) this.#waiting.push(id);
      }
    }
    return answer;
  }

  async #ask(call: Extract<Call, { job: string }>): Promise<Answer> {
    const path = `/v1/jobs/${call.job}`;
    if (call.name === 'get') return await this.#caller.once(call, { path });
    const isSignal = call.name === 'signal';
    const sent = isSignal
      ? { path: `${path}/signals/go`, body: { payload: call.token } }
      : { path: `${path}/${call.name}`, body: {} };
    return await this.#caller.once(call, sent);
  }

  /** An idempotency key, or a request id. */
  #newKey(): string {
    this.#keys += 1;
    if (this.#random.chance(0.5)) return `${this.#options.name}-key-${this.#keys}`;
    const random = [this.#random.int(0, 2 ** 24), this.#random.int(0, 2 ** 24)] as const;
    return makeJobId({ timeMs: Date.now(), sequence: 0, random, shard: 0 });
  }
}

/** The latest ones. */
function remember<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > REMEMBERED) list.shift();
}
