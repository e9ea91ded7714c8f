import type { RemoteWorkersPort, WorkerKey } from '../http/deps.ts';
import { mayServe } from '../core/access/key-patterns.ts';
import { DEFAULT_TENANT } from '../core/access/scope.ts';
import { definitionName } from '../core/definition/definition.ts';
import { hookOwner } from '../core/definition/hooks.ts';
import type {
  BeatReply,
  BeatRequest,
  RegisterReply,
  RegisterRequest,
  SayRequest,
  SpawnReply,
  SpawnRequestBody,
  TurnReply,
  TurnRequest,
} from '../protocol/worker-protocol.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { listDefinitions } from '../store/enqueue/definitions.ts';
import type { Db } from '../store/connection/db.ts';
import type { ServedDeployment } from '../store/deployments/served.ts';
import {
  findRemoteWorker,
  recordTurn,
  registerRemoteWorker,
} from '../store/workers/remote-workers.ts';
import { heartbeat, type HeartbeatAnswer, retireWorker } from '../store/workers/workers.ts';
import { SecretCache } from '../worker/attempt/secrets.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import { deliver } from './deliver.ts';
import { DeliverySecrets } from './delivery-secrets.ts';
import { difference } from './difference.ts';
import { claimKey, Held } from './held.ts';
import {
  completeRules,
  type Delivery,
  type RemoteWorker,
  servedDefinitions,
} from './remote-worker.ts';
import { store as storeReports } from './reports.ts';
import { storeResults } from './large-results.ts';
import { type Rest, Rests } from './rests.ts';
import { ServedCode } from './served-code.ts';
import { WorkerGroups } from './worker-groups.ts';

export interface ControllerOptions {
  db: Db;
  /** For leases only, so that other calls do not delay the renewal of one. */
  reserved: Db;
  store: WorkerStore;
  /** For LISTEN; null: jobs are found by polling. */
  databaseUrl: string | null;
  leaseMs: number;
  pollMs: number;
  clock: Clock;
  log: Log;
}

/** The longest useful waits: below the 60 s after which many proxies close a silent connection. */
const WAIT_MS = 20_000;
const IDLE_WAIT_MS = 45_000;
/** A turn is recorded at most this often. */
const TURN_EVERY_MS = 2_000;
/** Facts of a worker are read again after this time. */
const KNOWN_MS = 60_000;
const KNOWN_MAX = 10_000;

interface Known {
  worker: RemoteWorker;
  /** Number of definitions that it registered. */
  serves: number;
  readMs: number;
  turnMs: number;
}

/**
 * Serves workers that have no database connection. It keeps nothing that another process would
 * need: any controller can answer any call. What it remembers only saves queries.
 */
export class Controller implements Service, RemoteWorkersPort {
  readonly name = 'controller';
  readonly #options: ControllerOptions;
  readonly #groups: WorkerGroups;
  readonly #known = new Map<string, Known>();
  readonly #held: Held;
  readonly #secrets: DeliverySecrets;
  readonly #rests: Rests;
  readonly #code: ServedCode;
  /** Instances whose next heartbeat has news. */
  readonly #news = new Set<string>();
  /** Instances that have listed deployments here, and whether they must do so again. */
  readonly #lists = new Map<string, boolean>();

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { db, store } = options;
    this.#secrets = new DeliverySecrets(store, new SecretCache(store));
    const reread = async ({ instance }: RemoteWorker) => (await this.#read(db, instance)).worker;
    this.#held = new Held(db, this.#secrets, reread, store.large?.limit('result'));
    this.#code = new ServedCode(options.db, options.clock);
    const onNews = (instance: string) => this.#tellNews(instance);
    const onReleases = () => this.#tellReleases();
    this.#groups = new WorkerGroups({ ...options, onNews, onReleases });
    this.#rests = new Rests({ ...options, db: options.reserved, onNews });
  }

  async start(): Promise<void> {
    // The first worker starts what its group needs.
  }

  async stop(): Promise<void> {
    await this.#groups.stop();
    await this.#rests.stop();
  }

  async register(
    key: WorkerKey,
    instance: string,
    { definitions, ...facts }: RegisterRequest,
  ): Promise<RegisterReply> {
    const { reserved, store } = this.#options;
    const refused = definitions.filter((one) => !mayServe(key.patterns, one.key));
    if (refused.length > 0) {
      const names = refused.slice(0, 5).map((one) => one.key);
      throw new Refusal('FORBIDDEN', `the key may not serve ${names.join(', ')}`);
    }
    if (key.tenant === DEFAULT_TENANT) {
      const rules = definitions.flatMap((one) => completeRules(one.rules) ?? []);
      if (rules.length > 0) await store.publish(rules);
    }
    const { leaseMs = this.#options.leaseMs } = facts;
    const { tenant, keyId, address } = key;
    const names = definitions.map(definitionName);
    const row = { ...facts, instance, leaseMs, definitions: names, tenant, keyId, address };
    for (let shard = 0; shard < reserved.shards; shard += 1) {
      if (!(await registerRemoteWorker(reserved, shard, row))) throw gone();
    }
    this.#known.delete(instance);
    await this.#worker(key, instance, { db: reserved });
    const waitMs = Math.min(WAIT_MS, Math.floor(leaseMs / 2));
    const reply = { leaseMs, beatMs: Math.floor(leaseMs / 3), waitMs, idleWaitMs: IDLE_WAIT_MS };
    const { large } = store;
    const allowsLarge = large !== undefined && large.maxBytes !== null;
    return { ...reply, ...(allowsLarge && { resultMaxBytes: large.limit('result') }) };
  }

  async turn(
    key: WorkerKey,
    instance: string,
    request: TurnRequest,
    signal: AbortSignal,
  ): Promise<{ reply: TurnReply; undeliver(): Promise<void> }> {
    const rest = await this.#rest(key, instance, request);
    try {
      return await this.#turn(key, instance, request, signal, rest);
    } finally {
      if (rest) this.#rests.end(rest);
    }
  }

  /** A worker that holds nothing. Its answer is also a renewal of its lease. */
  async #rest(key: WorkerKey, instance: string, request: TurnRequest): Promise<Rest | null> {
    const { idle, outcomes, holding } = request;
    if (!idle) return null;
    if (outcomes.length > 0 || holding !== undefined) {
      throw new Refusal('VALIDATION_FAILED', 'an idle worker has no outcomes and holds nothing');
    }
    const { leaseMs } = (await this.#worker(key, instance)).worker;
    return await this.#rests.begin(instance, leaseMs);
  }

  async #turn(
    key: WorkerKey,
    instance: string,
    request: TurnRequest,
    signal: AbortSignal,
    rest: Rest | null,
  ): Promise<{ reply: TurnReply; undeliver(): Promise<void> }> {
    const { worker } = await this.#worker(key, instance, {
      turns: request.room > 0 && rest === null,
      serves: request.serves,
    });
    const group = await this.#groups.of(worker);
    const { outcomes: reported, room, holding } = request;
    const batches = await this.#held.batches(worker, reported, request.masked);
    await storeResults(this.#options.store.large, batches, this.#options.log);
    const again =
      holding === undefined ? [] : await this.#held.unheld(worker, holding, reported, room);
    const free = signal.aborted || holding !== undefined ? 0 : room;
    const { outcomes, deliveries } = await group.turn(instance, batches.finished, free);
    const settled = await this.#held.settled(worker, reported, batches, outcomes);
    let taken: Delivery[] = [...again, ...deliveries];
    const waits = request.waitMs > 0 && free === room && this.#lists.get(instance) !== true;
    if (taken.length === 0 && waits && !signal.aborted) {
      taken = await group.wait(instance, room, request.waitMs, signal);
    }
    if (rest?.gone) throw gone();
    // The worker counts its lease from this turn on.
    if (rest && !rest.renewed) await this.#renew(worker, worker.leaseMs);
    this.#held.add(instance, taken);
    const undeliver = async () => {
      this.#held.forget(instance, taken);
      await group.giveBack(instance, taken);
    };
    const { jobs, unreadable } = await deliver(this.#options.store, this.#secrets, taken);
    if (unreadable.size > 0) await group.turn(instance, unreadable, 0);
    const reply = { settled, jobs, beat: this.#news.delete(instance) };
    if (this.#lists.get(instance) !== true) return { reply, undeliver };
    this.#lists.set(instance, false);
    return { reply: { ...reply, deployments: true }, undeliver };
  }

  async beat(key: WorkerKey, instance: string, request: BeatRequest): Promise<BeatReply> {
    const { worker } = await this.#worker(key, instance, { db: this.#options.reserved });
    const answers = await this.#renew(worker, request.leaseMs ?? worker.leaseMs);
    this.#news.delete(instance);
    return difference(answers, request.holding);
  }

  async #renew({ instance }: RemoteWorker, leaseMs: number): Promise<HeartbeatAnswer[]> {
    const { reserved: db } = this.#options;
    const answers = await Promise.all(
      Array.from({ length: db.shards }, async (_, shard) =>
        heartbeat(db, shard, instance, leaseMs),
      ),
    );
    if (answers.some(({ alive }) => !alive)) throw gone();
    return answers;
  }

  async say(key: WorkerKey, instance: string, request: SayRequest): Promise<{ stale: string[] }> {
    const { worker } = await this.#worker(key, instance);
    const { store, clock } = this.#options;
    return await storeReports(store, this.#held, this.#secrets, worker, request, clock);
  }

  async spawn(
    key: WorkerKey,
    instance: string,
    { id, claim, children }: SpawnRequestBody,
  ): Promise<SpawnReply> {
    const { worker } = await this.#worker(key, instance);
    const delivery = (await this.#held.find(worker, [{ id, claim }])).get(claimKey({ id, claim }));
    if (!delivery) return { problem: 'this attempt no longer owns the job' };
    const { shard, tenant, job } = delivery;
    const { traceparent } = job;
    const about = { id, claim, tenant, traceparent, children };
    const { problem, spawned } = await this.#options.store.spawn(shard, about);
    return { problem, ...(spawned && { spawned: spawned.map((child) => ({ ...child })) }) };
  }

  async retire(key: WorkerKey, instance: string): Promise<void> {
    const { reserved } = this.#options;
    const { worker } = await this.#worker(key, instance, { db: reserved });
    for (let shard = 0; shard < reserved.shards; shard += 1) {
      await retireWorker(reserved, shard, worker.instance);
    }
    this.#groups.release(instance);
    this.#known.delete(instance);
    this.#news.delete(instance);
    this.#held.forgetAll(instance);
  }

  async deployments(key: WorkerKey, instance: string): Promise<ServedDeployment[]> {
    await this.#worker(key, instance);
    if (this.#lists.size > KNOWN_MAX) this.#lists.clear();
    this.#lists.set(instance, false);
    return await this.#code.of(key);
  }

  /** Ends all waits. */
  release(): void {
    this.#groups.releaseAll();
  }

  #tellNews(instance: string): void {
    if (!this.#known.has(instance)) return;
    this.#news.add(instance);
    this.#groups.release(instance);
  }

  /** Workers that serve deployments learn of it by the end of their wait. */
  #tellReleases(): void {
    this.#code.forget();
    for (const instance of this.#lists.keys()) {
      this.#lists.set(instance, true);
      this.#groups.release(instance);
    }
  }

  /** Throws when the instance is not registered, or belongs to another key. */
  async #worker(
    key: WorkerKey,
    instance: string,
    {
      turns = false,
      serves,
      db = this.#options.db,
    }: { turns?: boolean; serves?: number | undefined; db?: Db } = {},
  ): Promise<Known> {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    let known = this.#known.get(instance);
    const isOld = serves !== undefined && serves !== known?.serves;
    if (!known || isOld || nowMs - known.readMs > KNOWN_MS) {
      known = await this.#read(db, instance);
    }
    const { worker } = known;
    const allowed = worker.definitions.every((one) =>
      mayServe(key.patterns, hookOwner(one.key) ?? one.key),
    );
    if (worker.tenant !== key.tenant || !allowed) throw gone();
    if (turns && nowMs - known.turnMs >= TURN_EVERY_MS) {
      known.turnMs = nowMs;
      if (!(await recordTurn(db, 0, instance))) throw gone();
    }
    return known;
  }

  async #read(db: Db, instance: string): Promise<Known> {
    const row = await findRemoteWorker(db, 0, instance);
    if (!row) throw gone();
    const published = new Map((await listDefinitions(db)).map((one) => [definitionName(one), one]));
    const definitions = servedDefinitions(row.definitions, published);
    const { tenant, keyId, leaseMs } = row;
    const worker = { instance, tenant, keyId, definitions, leaseMs };
    const readMs = this.#options.clock.monotonicMs();
    const turnMs = this.#known.get(instance)?.turnMs ?? Number.NEGATIVE_INFINITY;
    const known = { worker, serves: row.definitions.length, readMs, turnMs };
    if (this.#known.size > KNOWN_MAX) this.#known.clear();
    this.#known.set(instance, known);
    return known;
  }
}

function gone(): Refusal {
  return new Refusal(
    'WORKER_GONE',
    'this worker is not registered: stop its jobs, make a new id and register again',
  );
}
