import { setTimeout as pause } from 'node:timers/promises';
import type { DeployCall } from '../history/history.ts';
import { nowMicros } from '../history/now.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import type { Database } from '../world/database.ts';
import { archiveOf } from './archives.ts';
import type { Client } from './client.ts';

export interface DeployerOptions {
  addresses: readonly string[];
  recorder: Recorder;
  random: Random;
  database: Database;
  /** Enqueues jobs that name a deployment. */
  pinner: Client;
  folder: string;
  /** At most so many deployments are acknowledged. */
  deploys: number;
  everyMs: number;
  /** The servers are being timed, and must not load code meanwhile. */
  isResting(): boolean;
}

type Step = DeployCall['what'] | 'pin' | 'hold-back';

/** What a short run must have seen; the rest is left to chance. `hold-back` is deployed, not released. */
const FIRST: readonly Step[] = ['deploy', 'deploy', 'rollback', 'hold-back', 'pin'];
const HABITS = { deploy: 4, 'hold-back': 2, promote: 3, rollback: 3, retire: 3, pin: 3 };
const PATIENCE_MS = 5_000;
/** More than these are retired before the next is made. */
const KEPT = 5;

/**
 * Whether a deployment is released or has jobs, or was released in the last half minute: a request
 * that is still under way may have chosen it.
 */
const IN_USE = `
  with released as (
    select current, coalesce(lead(pg_xact_commit_timestamp(xid::xid)) over (order by seq),
      'infinity') as until
    from chaos.release_event
  )
  select exists (select 1 from released r
      where r.current = $1 and r.until > clock_timestamp() - interval '30 seconds')
    or exists (select 1 from longshore.release r where $1 in (r.current, r.previous))
    or exists (select 1 from longshore.queue q join longshore.waiting w using (shard, queue)
      where q.key = 'deployed' and q.version = $1)
    or exists (select 1 from longshore.queue q join longshore.running r using (shard, queue)
      where q.key = 'deployed' and q.version = $1) as used`;

/** Deploys, promotes, rolls back and retires, one after the other, through any API. */
export class Deployer {
  readonly #options: DeployerOptions;
  /** The acknowledged deployments that are not retired. */
  readonly #known = new Set<number>();
  #builds = 0;
  #made = 0;
  #running = false;
  #loop: Promise<void> | undefined;

  constructor(options: DeployerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.deploys === 0) return;
    this.#running = true;
    this.#loop = this.#keepBusy();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
  }

  /** Every deployment that was acknowledged must still run jobs. */
  async pinAll(): Promise<void> {
    for (const number of this.#known) await this.#options.pinner.pin(number);
  }

  async #keepBusy(): Promise<void> {
    const { random, everyMs, deploys, isResting } = this.#options;
    const first = [...FIRST];
    while (this.#running) {
      const [next] = first;
      const done = isResting() || (await this.#take(next ?? random.weighted(HABITS)));
      const isEnough = next === 'hold-back' && this.#made >= deploys;
      if (next && !isResting() && (done || isEnough)) first.shift();
      await pause(everyMs);
    }
  }

  /** False: it could not be done, or its result is not known. */
  async #take(step: Step): Promise<boolean> {
    const { random, deploys, pinner } = this.#options;
    const known = [...this.#known];
    switch (step) {
      case 'deploy':
      case 'hold-back':
        if (this.#made >= deploys || known.length > KEPT) return false;
        return await this.#deploy(step === 'deploy');
      case 'promote':
        return known.length > 0 && (await this.#promote(random.pick(known)));
      case 'rollback':
        return await this.#rollback();
      case 'retire':
        return await this.#retire();
      case 'pin':
        if (known.length === 0) return false;
        await pinner.pin(random.pick(known));
        return true;
    }
  }

  /** Each try has code of its own, so the code tells which of them was stored. */
  async #deploy(promote: boolean): Promise<boolean> {
    this.#builds += 1;
    const build = `build-${this.#builds}`;
    const archive = await archiveOf(build, this.#options.folder);
    const uploaded = await this.#send('/v1/artifacts', archive);
    if (uploaded?.body.artifactId === undefined) return false;
    const body = { artifactId: uploaded.body.artifactId, note: build, promote };
    const call = { what: 'deploy', build, number: null, released: promote } as const;
    const made = await this.#record(call, '/v1/deployments', body);
    if (made) this.#made += 1;
    return made;
  }

  async #promote(number: number): Promise<boolean> {
    const call = { what: 'promote', build: null, number, released: true } as const;
    return await this.#record(call, '/v1/releases', { deployment: number });
  }

  async #rollback(): Promise<boolean> {
    const call = { what: 'rollback', build: null, number: null, released: true } as const;
    return await this.#record(call, '/v1/releases/rollback', { reason: 'chaos' });
  }

  async #retire(): Promise<boolean> {
    for (const number of this.#known) {
      if (await this.#isUsed(number)) continue;
      this.#known.delete(number);
      const call = { what: 'retire', build: null, number, released: false } as const;
      return await this.#record(call, `/v1/deployments/${number}/retire`, {});
    }
    return false;
  }

  async #isUsed(number: number): Promise<boolean> {
    return await this.#options.database
      .use(async (client) => {
        const { rows } = await client.query<{ used: boolean }>(IN_USE, [number]);
        return rows[0]?.used ?? true;
      })
      .catch(() => true);
  }

  async #record(
    call: Omit<DeployCall, 'from' | 'until' | 'result'>,
    path: string,
    body: object,
  ): Promise<boolean> {
    const from = nowMicros();
    const answer = await this.#send(path, body);
    const result = !answer ? 'unknown' : answer.ok ? 'ok' : 'fail';
    const said = answer?.body.number ?? answer?.body.deployments?.[0]?.number ?? null;
    const number = call.number ?? said;
    const until = nowMicros();
    this.#options.recorder.write('deploys', { ...call, from, until, result, number });
    if (result === 'ok' && number !== null && call.what === 'deploy') this.#known.add(number);
    return result === 'ok';
  }

  /** Null: the result is not known. */
  async #send(path: string, body: object | Buffer): Promise<Sent | null> {
    const { random, addresses } = this.#options;
    const raw = Buffer.isBuffer(body);
    try {
      const response = await fetch(`${random.pick(addresses)}${path}`, {
        method: 'POST',
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: { 'content-type': raw ? 'application/octet-stream' : 'application/json' },
        body: raw ? new Uint8Array(body) : JSON.stringify(body),
      });
      const said = (await response.json()) as Sent['body'];
      return response.status < 500 ? { ok: response.ok, body: said } : null;
    } catch {
      return null;
    }
  }
}

interface Sent {
  ok: boolean;
  body: { artifactId?: string; number?: number; deployments?: { number: number }[] };
}
