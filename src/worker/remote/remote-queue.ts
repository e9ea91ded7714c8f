import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { hasTerminalHooks, hookDefinition } from '../../core/definition/hooks.ts';
import type { BeatReply, RegisterReply, SpawnReply } from '../../protocol/worker-protocol.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { Vault } from '../../store/connection/vault.ts';
import type { OwnedJob, HeartbeatAnswer, WorkerInstance } from '../../store/workers/workers.ts';
import type { Execution } from '../attempt/execution.ts';
import type { OutcomeWriter } from '../attempt/outcome-writer.ts';
import type { Secrets } from '../attempt/secrets.ts';
import type { Lease, WorkQueue } from '../claim/work-queue.ts';
import { Claims } from './claims.ts';
import { CallRefused, InstanceGone, type RemoteCalls } from './remote-calls.ts';
import { RemoteShard } from './remote-shard.ts';
import { Turns, unstarted } from './turns.ts';

const CALL_MS = 10_000;
/** 500 jobs in one transaction. */
const SPAWN_MS = 30_000;

/**
 * The queue of a worker without a database connection. The server decides what follows from an
 * outcome, decrypts params and encrypts results; here they are plain. All shards look like one.
 */
export class RemoteQueue implements WorkQueue {
  readonly shards = 1;
  readonly vault = new Vault();
  readonly #calls: RemoteCalls;
  readonly #clock: Clock;
  readonly #claims = new Claims();
  readonly #turns: Turns;
  readonly #deployments: boolean;
  #definitions: readonly DefinitionInfo[] = [];
  /** Of any served definition, also a former one. */
  #anyDefinition: DefinitionInfo | undefined;
  #instance = '';
  #resultMaxBytes: number | undefined;
  #leaseMs = 0;
  #published = false;
  #worker: WorkerInstance | null = null;

  constructor(calls: RemoteCalls, clock: Clock, { deployments = false } = {}) {
    this.#deployments = deployments;
    this.#calls = calls;
    this.#clock = clock;
    this.#turns = new Turns(calls, this.#claims, clock);
  }

  /** The id under which it is registered. */
  get instance(): string {
    return this.#instance;
  }

  get resultMaxBytes(): number | undefined {
    return this.#resultMaxBytes;
  }

  useLease(lease: Lease): void {
    this.#turns.useLease(lease);
  }

  /** Calls back when the server says that releases or deployments changed. */
  onReleases(changed: () => void): void {
    this.#turns.onReleases = changed;
  }

  async publish(definitions: readonly DefinitionInfo[]): Promise<void> {
    this.#published = false;
    this.#serve(definitions);
  }

  #serve(definitions: readonly DefinitionInfo[]): void {
    this.#definitions = definitions;
    this.#anyDefinition = definitions[0] ?? this.#anyDefinition;
    const hooks = definitions.filter(hasTerminalHooks).map(hookDefinition);
    this.#turns.serve([...definitions, ...hooks]);
  }

  shardQueue(): RemoteShard {
    return new RemoteShard(this.#turns, this.#clock);
  }

  outcomes(): OutcomeWriter {
    return { write: async (_shard, batch) => await this.#turns.write(batch, this.#instance) };
  }

  async returnJob(_shard: number, { id, claim }: OwnedJob): Promise<void> {
    this.#claims.returned({ id, claim });
    const definition = this.#anyDefinition;
    if (!definition) return;
    const job = { ...NOTHING, id, claim };
    const lost = unstarted({ job, definition, tenant: '', secretsMark: null });
    await this.#turns.write([lost], this.#instance);
  }

  /** Registers again under the same id. Rules of deployed code are not published by workers. */
  async announce(
    _shard: number,
    instance: string | null,
    definitions: readonly DefinitionInfo[],
  ): Promise<void> {
    this.#serve(definitions);
    if (instance === null || this.#worker?.instance !== instance) return;
    await this.#put(this.#worker);
  }

  async register(_shard: number, worker: WorkerInstance): Promise<void> {
    const { instance, leaseMs } = worker;
    const reply = await this.#put(worker).catch(refuse);
    this.#turns.rests = { leaseMs, waitMs: reply.idleWaitMs ?? 0 };
    if (reply.waitMs !== undefined) this.#turns.waitMsMax = reply.waitMs;
    this.#resultMaxBytes = reply.resultMaxBytes;
    this.#instance = instance;
    this.#leaseMs = leaseMs;
    this.#published = true;
    this.#worker = worker;
  }

  async #put(worker: WorkerInstance): Promise<RegisterReply> {
    const { instance, host, pid, version, slots, leaseMs, notLoaded = [] } = worker;
    // Publishing takes time, and a worker that comes back with a new id counts its lease meanwhile.
    const definitions = this.#definitions.map((rules) => {
      const { key, version: of } = rules;
      return { key, version: of, ...(!this.#published && { rules }) };
    });
    const facts = { host, pid, version, slots, leaseMs, definitions };
    const body = {
      ...facts,
      ...(this.#deployments && { deployments: true }),
      ...(notLoaded.length > 0 && { notLoaded }),
    };
    const path = `/v1/workers/${instance}`;
    const call = { method: 'PUT', path, body, timeoutMs: CALL_MS } as const;
    const reply = await this.#calls.call<RegisterReply>(call);
    if (this.#deployments) this.#turns.serves = definitions.length;
    return reply;
  }

  async heartbeat(_shard: number, instance: string, leaseMs: number): Promise<HeartbeatAnswer> {
    const holding = this.#claims.of(instance);
    const path = `/v1/workers/${instance}/beat`;
    const body = { holding, leaseMs };
    try {
      const timeoutMs = renewalMs(leaseMs);
      const reply = await this.#calls.call<BeatReply>({ method: 'POST', path, body, timeoutMs });
      for (const one of holding) if (reply.gone.includes(one.id)) this.#claims.ended(one);
      return { alive: true, draining: reply.drain, owned: ownedOf(holding, reply) };
    } catch (error) {
      if (error instanceof InstanceGone) return { alive: false, draining: false, owned: [] };
      throw error;
    }
  }

  async readLease(): Promise<never> {
    throw new Error('a worker over HTTP has no heartbeats in Redis');
  }

  async retire(_shard: number, instance: string): Promise<void> {
    const path = `/v1/workers/${instance}`;
    // The next heartbeat waits for this.
    const timeoutMs = renewalMs(this.#leaseMs);
    await this.#calls.call({ method: 'DELETE', path, timeoutMs }).catch((error: unknown) => {
      if (!(error instanceof InstanceGone)) throw error;
    });
    this.#claims.forget(instance);
  }

  async loadSteps(_shard: number, id: string) {
    return this.#claims.saved(id);
  }

  /** They are delivered as a step. */
  async loadParents(): Promise<[]> {
    return [];
  }

  /** They are delivered as a step. */
  async loadChildren(): Promise<null> {
    return null;
  }

  spawn: WorkQueue['spawn'] = async (_shard, { id, claim, children }) => {
    const instance = this.#claims.instanceOf({ id, claim }) ?? this.#instance;
    const path = `/v1/workers/${instance}/spawn`;
    const body = { id, claim, children };
    try {
      return await this.#calls.call<SpawnReply>({
        method: 'POST',
        path,
        body,
        timeoutMs: SPAWN_MS,
      });
    } catch (error) {
      if (error instanceof CallRefused) return { problem: `spawn: ${error.message}` };
      if (!(error instanceof InstanceGone)) throw error;
      return { problem: 'this attempt no longer owns the job' };
    }
  };

  secretsOf({ job }: Execution): Secrets | null {
    return this.#claims.secretsOf(job);
  }

  writeLogs: WorkQueue['writeLogs'] = async (_shard, chunks) => {
    const nowMs = this.#clock.now().getTime();
    const logs = chunks
      .filter(({ lines }) => lines.length > 0)
      .map(({ id, claim, n, lines }) => ({
        id,
        claim,
        n,
        lines: lines.map(({ atMs, ...line }) => ({ ...line, ageMs: Math.max(0, nowMs - atMs) })),
      }));
    await this.#say({ logs });
  };

  writeEvents: WorkQueue['writeEvents'] = async (_shard, events) =>
    void (await this.#say({
      events: events.map(({ id, claim, n, type, payloadJson, ageMs }) => ({
        id,
        claim,
        n,
        type,
        payloadJson,
        ageMs,
      })),
    }));

  writeStreams: WorkQueue['writeStreams'] = async (_shard, chunks) => {
    const streams = chunks.map(({ id, claim, n, data: text }) => ({ id, claim, n, text }));
    await this.#say({ streams });
  };

  saveProgress: WorkQueue['saveProgress'] = async (_shard, progress) =>
    void (await this.#say({ progress }));

  saveStep: WorkQueue['saveStep'] = async (_shard, step) => {
    const stale = await this.#say({ steps: [step] });
    return !stale.includes(step.id);
  };

  async #say(said: Record<string, readonly { id: string; claim: number }[]>): Promise<string[]> {
    const [items = []] = Object.values(said);
    const [first] = items;
    if (!first) return [];
    // Reports of a former identity are refused: its jobs were stopped.
    const instance = this.#claims.instanceOf(first) ?? this.#instance;
    const path = `/v1/workers/${instance}/say`;
    try {
      const body = { masked: true, ...said };
      const call = { method: 'POST', path, body, timeoutMs: CALL_MS } as const;
      return (await this.#calls.call<{ stale: string[] }>(call)).stale;
    } catch (error) {
      if (!(error instanceof InstanceGone)) throw error;
      return items.map(({ id }) => id);
    }
  }
}

const NOTHING = {
  queue: 0,
  rank: 0,
  seq: 0,
  attempts: 0,
  maxAttempts: 0,
  interruptions: 0,
  paramsJson: 'null',
  policy: null,
  limited: false,
  watched: false,
  traceparent: null,
  waitedMs: null,
};

/** A call that keeps a lease must leave time for another try. */
function renewalMs(leaseMs: number): number {
  return Math.max(500, leaseMs / 4);
}

/** The jobs that the worker owns, as a database would list them. */
function ownedOf(
  holding: readonly { id: string; claim: number }[],
  { gone, cancel, unheld }: BeatReply,
): OwnedJob[] {
  const lost = new Set(gone);
  const cancelled = new Set(cancel);
  const budget = { attempts: 0, maxAttempts: 0, interruptions: 0 };
  return [
    ...holding
      .filter(({ id }) => !lost.has(id))
      .map(({ id, claim }) => {
        const state = cancelled.has(id) ? ('cancelling' as const) : ('running' as const);
        return { id, claim, state, ...budget };
      }),
    ...unheld.map(({ id, claim, attempt }) => {
      return { id, claim, state: 'running' as const, ...budget, attempts: attempt };
    }),
  ];
}

/** A key that may not do this does not get better by waiting. */
function refuse(error: unknown): never {
  if (error instanceof CallRefused) {
    throw new StartRefusal('configuration', `the server refused this worker: ${error.message}`, {
      cause: error,
    });
  }
  throw error;
}
