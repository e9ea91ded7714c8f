import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { type FleetState, nextFleet, wantedWorkers } from '../core/queue/fleet-size.ts';
import { TARGET_SECONDS_DEFAULT } from '../core/queue/wanted-slots.ts';
import type { WorkerRange } from '../core/queue/worker-range.ts';
import { scaleView } from '../core/views/scale.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { ChildService } from '../runtime/processes/child-service.ts';
import type { Service } from '../runtime/service.ts';
import { readScale } from '../store/counters/read-scale.ts';
import type { Db } from '../store/connection/db.ts';
import { listWorkers } from '../store/workers/list-workers.ts';
import { WorkerDeaths } from './workers/worker-deaths.ts';
import { workerProcess, type WorkerReady } from './worker-child.ts';

/** In polls of the server: 2 s between looks, 5 s until it grows, a minute until it shrinks. */
const LOOK_POLLS = 2;
const GROW_POLLS = 5;
const SHRINK_POLLS = 60;

/** A worker process and its number, which its metrics port follows. */
interface Member {
  number: number;
  child: ChildService<WorkerReady>;
}

/**
 * The worker processes of `longshore start`. With a range it starts and drains them by the load of
 * the whole cluster, as `GET /v1/scale` shows it. Each is supervised and restarted by itself.
 */
export class WorkerFleet implements Service {
  readonly name = 'worker';
  readonly #db: Db;
  readonly #config: Config;
  readonly #range: WorkerRange;
  readonly #log: Log;
  readonly #scaler: Poller;
  readonly #deaths: WorkerDeaths;
  #members: Member[] = [];
  #leaving = new Set<Promise<void>>();
  #state: FleetState;

  constructor(db: Db, config: Config, range: WorkerRange, log: Log) {
    this.#db = db;
    this.#config = config;
    this.#range = range;
    this.#log = log;
    this.#state = { size: range.min, trend: null };
    this.#deaths = new WorkerDeaths(db, log);
    this.#scaler = new Poller({
      name: 'worker scaler',
      log,
      tick: async (signal) => await this.#look(signal),
    });
  }

  /** The last ready message of a worker. */
  get ready(): WorkerReady | undefined {
    return this.#members.find(({ child }) => child.ready)?.child.ready;
  }

  /** Resolves when the first worker is ready: if it refuses to start, so would the others. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#members.length > 0) return;
    const { min, max } = this.#range;
    this.#state = { size: min, trend: null };
    await this.#add(signal);
    await Promise.all(Array.from({ length: min - 1 }, async () => await this.#add(signal)));
    if (max > min) await this.#scaler.start();
  }

  /** Each loads the definitions anew. */
  async renew(): Promise<void> {
    await Promise.all(this.#members.map(async ({ child }) => await child.renew()));
  }

  async stop(): Promise<void> {
    await this.#scaler.stop();
    for (const member of this.#members) this.#remove(member);
    await Promise.all(this.#leaving);
    await this.#deaths.stop();
  }

  async #look(signal: AbortSignal): Promise<number> {
    const { pollMs, concurrency } = this.#config;
    const target = { targetSeconds: TARGET_SECONDS_DEFAULT, allTenants: true };
    const { wantedSlots } = scaleView(await readScale(this.#db, null), target);
    const before = this.#state.size;
    this.#state = nextFleet(
      this.#state,
      wantedWorkers(wantedSlots, concurrency, this.#range),
      systemClock.monotonicMs(),
      { growMs: GROW_POLLS * pollMs, shrinkMs: SHRINK_POLLS * pollMs },
    );
    const { size } = this.#state;
    if (size !== before) {
      const change = size > before ? 'starting more workers' : 'draining workers';
      this.#log.info({ service: this.name, wantedSlots, from: before, to: size }, change);
    }
    await this.#resize(size, signal);
    return LOOK_POLLS * pollMs;
  }

  async #resize(size: number, signal: AbortSignal): Promise<void> {
    const missing = size - this.#members.length;
    if (missing > 0) {
      await Promise.all(Array.from({ length: missing }, async () => await this.#add(signal)));
    } else if (missing < 0) {
      const idlest = await this.#idlestFirst();
      for (const member of idlest.slice(0, -missing)) this.#remove(member);
    }
  }

  async #add(signal?: AbortSignal): Promise<void> {
    const taken = new Set(this.#members.map(({ number }) => number));
    let number = 0;
    while (taken.has(number)) number += 1;
    const member = {
      number,
      child: workerProcess(this.#configOf(number), this.#log, 'worker-of-start', (death) =>
        this.#deaths.note(death),
      ),
    };
    this.#members.push(member);
    try {
      await member.child.start(signal);
    } catch (error) {
      this.#remove(member);
      throw error;
    }
  }

  /** It drains, and is no member any more: it finishes its jobs, and returns what it cannot. */
  #remove(member: Member): void {
    this.#members = this.#members.filter((one) => one !== member);
    const leaving = member.child.stop().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  /** By their running jobs; of equals the newest. */
  async #idlestFirst(): Promise<Member[]> {
    const host = hostname();
    const workers = (await listWorkers(this.#db, null)).filter((one) => one.host === host);
    const running = ({ child }: Member) =>
      workers.find(({ pid, status }) => pid === child.pid && status !== 'dead')?.running.length ??
      0;
    return this.#members.toReversed().toSorted((a, b) => running(a) - running(b));
  }

  /** Each process has a port of its own for its metrics: the one of the settings, and the next. */
  #configOf(number: number): Config {
    const { metricsPort } = this.#config;
    const port = metricsPort === null || metricsPort === 0 ? metricsPort : metricsPort + number;
    return { ...this.#config, metricsPort: port };
  }
}
