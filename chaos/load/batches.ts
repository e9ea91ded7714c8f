import type { Call } from '../history/history.ts';
import type { Random } from '../random.ts';
import type { Answer } from './answer.ts';
import type { Caller } from './caller.ts';
import type { Request, Requests } from './requests.ts';

interface Parts {
  random: Random;
  requests: Requests;
  caller: Caller;
}

interface OpenBatch {
  id: string;
  /** Its latest jobs with their key, for a request that is sent again. */
  latest: { key: string; jobs: Request[] } | null;
}

/** So many jobs of a large batch are added at a time: one request has to be answered in time. */
const PART = 250;

/** The batches of one client: some are stored at once, some are filled and then closed or cancelled. */
export class Batches {
  readonly #name: string;
  readonly #random: Random;
  readonly #requests: Requests;
  readonly #caller: Caller;
  readonly #open: OpenBatch[] = [];
  #made = 0;

  constructor(name: string, { random, requests, caller }: Parts) {
    this.#name = name;
    this.#random = random;
    this.#requests = requests;
    this.#caller = caller;
  }

  async act(): Promise<void> {
    const batch = this.#open.length > 0 ? this.#random.pick(this.#open) : null;
    switch (batch ? this.#random.weighted({ make: 3, add: 4, close: 3, cancel: 1 }) : 'make') {
      case 'make':
        return await this.#make();
      case 'add':
        return batch ? await this.#grow(batch) : undefined;
      case 'close':
        return batch ? await this.#end(batch, 'close-batch') : undefined;
      case 'cancel':
        return batch ? await this.#end(batch, 'cancel-batch') : undefined;
    }
  }

  /** A batch of at most so many jobs with both callbacks. Each of its parts waits for `ready`; false ends it. */
  async fill(count: number, ready: () => Promise<boolean>): Promise<void> {
    const batch = await this.#store([], { open: true, onComplete: true, onSuccess: true });
    if (!batch) return;
    for (let left = count; left > 0; left -= PART) {
      if (!(await ready())) break;
      const jobs = Array.from({ length: Math.min(PART, left) }, () => this.#requests.plain());
      await this.#add(batch, this.#key(), jobs);
    }
    await this.#end(batch, 'close-batch');
  }

  async closeAll(): Promise<void> {
    for (const batch of this.#open.splice(0)) await this.#end(batch, 'close-batch');
  }

  async #make(): Promise<void> {
    const open = this.#random.chance(0.6);
    const jobs = this.#members(open ? 0 : 1, 6);
    const onComplete = this.#random.chance(0.7);
    await this.#store(jobs, { open, onComplete, onSuccess: this.#random.chance(0.7) });
  }

  /** Adds jobs; now and then the request before is sent again first, as if its answer had been lost. */
  async #grow(batch: OpenBatch): Promise<void> {
    const { latest } = batch;
    if (latest && this.#random.chance(0.4)) await this.#add(batch, latest.key, latest.jobs);
    await this.#add(batch, this.#key(), this.#members(1, 8));
  }

  async #store(
    jobs: Request[],
    has: { open: boolean; onComplete: boolean; onSuccess: boolean },
  ): Promise<OpenBatch | null> {
    const { open } = has;
    this.#made += 1;
    const name = `${this.#name}-batch-${this.#made}`;
    const onComplete = has.onComplete ? this.#requests.callback() : null;
    const onSuccess = has.onSuccess ? this.#requests.callback() : null;
    const key = this.#key();
    const wanted = {
      name,
      open,
      jobs: jobs.map((job) => job.wanted),
      onComplete: onComplete?.wanted ?? null,
      onSuccess: onSuccess?.wanted ?? null,
    };
    const body = {
      name,
      open,
      jobs: jobs.map((job) => job.body),
      ...(onComplete && { onComplete: onComplete.body }),
      ...(onSuccess && { onSuccess: onSuccess.body }),
    };
    const call: Call = { name: 'batch', key, batch: wanted };
    const answer = await this.#insist(call, '/v1/batches', body, key);
    // As if its answer had been lost.
    if (this.#random.chance(0.2)) await this.#insist(call, '/v1/batches', body, key);
    const id = answer.phase === 'ok' ? answer.jobs[0]?.id : undefined;
    if (id === undefined) return null;
    const batch = { id, latest: null };
    if (open) this.#open.push(batch);
    return batch;
  }

  async #add(batch: OpenBatch, key: string, jobs: Request[]): Promise<void> {
    const call: Call = { name: 'add', key, batch: batch.id, jobs: jobs.map((job) => job.wanted) };
    const body = { jobs: jobs.map((job) => job.body) };
    await this.#insist(call, `/v1/batches/${batch.id}/jobs`, body, key);
    batch.latest = { key, jobs };
  }

  async #end(batch: OpenBatch, name: 'close-batch' | 'cancel-batch'): Promise<void> {
    const path = `/v1/batches/${batch.id}/${name === 'close-batch' ? 'close' : 'cancel'}`;
    await this.#insist({ name, batch: batch.id }, path, {});
    const at = this.#open.indexOf(batch);
    if (at >= 0) this.#open.splice(at, 1);
  }

  async #insist(call: Call, path: string, body: unknown, key?: string): Promise<Answer> {
    const sent = { path, body, ...(key !== undefined && { key }) };
    return await this.#caller.insist(async () => await this.#caller.once(call, sent));
  }

  #members(from: number, to: number): Request[] {
    return Array.from({ length: this.#random.int(from, to) }, () => this.#requests.member());
  }

  #key(): string {
    this.#made += 1;
    return `${this.#name}-batch-key-${this.#made}`;
  }
}
