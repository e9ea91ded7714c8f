import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { Forbidden, type Longshore } from '../../client/index.ts';
import {
  BeatAnswer,
  type BeatReply,
  type DeliveredJob,
  RegisterAnswer,
  TurnAnswer,
  type TurnReply,
  type TurnRequest,
} from '../../protocol/worker-protocol.ts';
import { expectThat, Skipped, Unmet } from '../check.ts';
import type { Answer, Caller, Sent } from './caller.ts';

/** How long an operator has to enqueue a job, where the key may not. */
const BY_HAND_MS = 600_000;
const FOUND_MS = 30_000;

type Registration = z.infer<typeof RegisterAnswer>;
type Claim = Pick<DeliveredJob, 'id' | 'claim'>;

/** What the checks of a server use: calls of a worker, and jobs for it. */
export class Stage {
  readonly calls: Caller;
  readonly client: Longshore;
  /** The definition that it serves. */
  readonly key: string;
  /** Asks the operator for a job, where the key may not enqueue. */
  readonly #ask: () => void;
  readonly #registered = new Set<string>();
  /** Jobs that were taken and have not ended. */
  readonly #held = new Map<string, { worker: string; job: Claim }>();
  #enqueues = true;
  #waitMs = 5_000;

  constructor(calls: Caller, client: Longshore, key: string, ask: () => void) {
    this.calls = calls;
    this.client = client;
    this.key = key;
    this.#ask = ask;
  }

  async register(slots = 4): Promise<{ id: string; reply: Registration }> {
    const id = randomUUID();
    const body = { host: 'conformance', slots, definitions: [{ key: this.key }] };
    const answer = await this.calls.call({ method: 'PUT', path: id, body });
    const reply = read(RegisterAnswer, answer);
    this.#registered.add(id);
    this.#waitMs = Math.min(this.#waitMs, reply.waitMs);
    return { id, reply };
  }

  async turn(id: string, body: Partial<TurnRequest>): Promise<TurnReply> {
    return read(TurnAnswer, await this.post(id, 'turn', body));
  }

  async beat(id: string, holding: readonly Claim[]): Promise<BeatReply> {
    return read(BeatAnswer, await this.post(id, 'beat', { holding: holding.map(claimOf) }));
  }

  async post(id: string, call: string, body: object | string, more: Partial<Sent> = {}) {
    return await this.calls.call({ method: 'POST', path: `${id}/${call}`, body, ...more });
  }

  /** Enqueues a job, or asks the operator for one. */
  async enqueue(): Promise<void> {
    if (this.#enqueues) {
      try {
        await this.client.enqueue(this.key, { conformance: true });
        return;
      } catch (error) {
        if (!(error instanceof Forbidden)) throw error;
        this.#enqueues = false;
      }
    }
    this.#ask();
  }

  /** Enqueues a job and takes it. */
  async job(id: string): Promise<DeliveredJob> {
    await this.enqueue();
    return await this.take(id);
  }

  async take(id: string): Promise<DeliveredJob> {
    const patienceMs = this.#enqueues ? FOUND_MS : BY_HAND_MS;
    for (let leftMs = patienceMs; leftMs > 0; leftMs -= this.#waitMs) {
      const { jobs } = await this.turn(id, { room: 1, waitMs: this.#waitMs });
      if (jobs[0]) {
        this.#held.set(jobs[0].id, { worker: id, job: jobs[0] });
        return jobs[0];
      }
      await this.beat(id, []);
    }
    throw new Unmet(`a job of ${this.key}`, 'none');
  }

  async settle(id: string, job: Claim, outcome: TurnRequest['outcomes'][number]['outcome']) {
    const { settled } = await this.turn(id, { outcomes: [{ ...claimOf(job), outcome }] });
    const answer = settled.find((one) => one.id === job.id && one.claim === job.claim);
    expectThat(answer !== undefined, 'the outcome in settled', settled);
    if (answer.next !== null) this.#held.delete(job.id);
    return answer.next;
  }

  async succeed(id: string, job: Claim): Promise<void> {
    await this.settle(id, job, { kind: 'success', resultJson: '{}' });
  }

  async leave(id: string): Promise<number> {
    return (await this.calls.call({ method: 'DELETE', path: id })).status;
  }

  /** After a check that did not end: its workers leave, and its jobs end. */
  async reset(): Promise<void> {
    for (const { worker, job } of this.#held.values()) await this.succeed(worker, job);
    this.#held.clear();
    for (const id of this.#registered) await this.leave(id);
    this.#registered.clear();
    const { id } = await this.register();
    const { jobs } = await this.turn(id, { room: 100 });
    for (const job of jobs) await this.succeed(id, job);
    await this.leave(id);
  }

  /** What needs another scope than `worker` is skipped without it. */
  async permitted<T>(scope: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Forbidden) throw new Skipped(`it needs a key with the scope ${scope}`);
      throw error;
    }
  }
}

export function claimOf({ id, claim }: Claim): Claim {
  return { id, claim };
}

function read<T>(
  schema: { safeParse(value: unknown): { data?: T; error?: { message: string } | undefined } },
  { status, body }: Answer,
): T {
  expectThat(status === 200, 'status 200', `${status} ${JSON.stringify(body)}`);
  const { data, error } = schema.safeParse(body);
  if (data === undefined) throw new Unmet('the documented answer', error?.message ?? 'another one');
  return data;
}

export function expectStatus(answer: Answer, ...wanted: readonly number[]): void {
  const { status, body } = answer;
  const expected = `status ${wanted.join(' or ')}`;
  expectThat(wanted.includes(status), expected, `${status} ${JSON.stringify(body)}`);
}
