import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ClaimedJob } from '../../store/claim/claim.ts';
import type { LevelHint } from '../../store/connection/wake.ts';
import type { OwnedJob } from '../../store/workers/workers.ts';
import type { Execution } from '../attempt/execution.ts';
import type { Outbox } from '../attempt/outbox.ts';
import type { Finished, OutcomeWriter } from '../attempt/outcome-writer.ts';
import type { Secrets } from '../attempt/secrets.ts';
import type { WorkerStore } from './port.ts';

/**
 * Everything a worker needs of its queue. `direct-queue.ts` implements it on PostgreSQL,
 * `worker/remote/remote-queue.ts` over HTTP.
 */
export interface WorkQueue extends Reports, Leases {
  /** What a job may return; undefined for the default. */
  readonly resultMaxBytes?: number | undefined;
  /** For a queue that is far away; others do not use it. */
  useLease(lease: Lease): void;
  /** Where the queue hears of releases, instead of LISTEN. */
  onReleases?(changed: () => void): void;
  /** Calls back for what it leaves out, such as an invalid schedule in the code. */
  publish(
    definitions: readonly DefinitionInfo[],
    onProblem?: (problem: string) => void,
  ): Promise<void>;
  /** Writes outcomes outside of a round, as a worker does that stops. */
  outcomes(clock: Clock, log: Log): OutcomeWriter;
  /** The jobs of one shard with these definitions. */
  shardQueue(shard: number, options: ShardQueueOptions): ShardQueue;
  /** Returns a job that this worker owns and does not run; costs no attempt. */
  returnJob(shard: number, job: OwnedJob, clock: Clock, log: Log): Promise<void>;
  /** The secrets that the job of an attempt gets; null: it has none. Throws `CannotOpen`. */
  secretsOf(execution: Execution): Secrets | null | Promise<Secrets | null>;
}

/** The lease of a worker, as a queue uses it whose waiting calls renew it. */
export interface Lease {
  /** The next heartbeat has news. */
  beatSoon(): void;
  /**
   * A call begins to wait, and this worker holds nothing: until `wake`, no heartbeats are sent. The
   * lease is over at `untilMs` of the monotonic clock, if the call succeeds. False: it was lost.
   */
  rest(instance: string, untilMs: number): boolean;
  /** The call has ended. It renewed the lease when it was sent; null: it failed. */
  wake(instance: string, sentMs: number | null): void;
  /** Resolves when the lease holds, if need be after a heartbeat; only then may jobs start. */
  confirm(instance: string): Promise<void>;
}

/** Stores what a job reports while it runs. */
type Reports = Pick<
  WorkerStore,
  | 'shards'
  | 'vault'
  | 'large'
  | 'writeLogs'
  | 'writeEvents'
  | 'writeStreams'
  | 'saveStep'
  | 'loadSteps'
  | 'loadParents'
  | 'loadChildren'
  | 'spawn'
  | 'saveProgress'
>;

type Leases = Pick<WorkerStore, 'register' | 'heartbeat' | 'readLease' | 'retire' | 'announce'>;

/** The definitions of a worker. Deployments change the list while it runs. */
export interface ServedDefinitions {
  list: readonly DefinitionInfo[];
}

export interface ShardQueueOptions {
  definitions: ServedDefinitions;
  clock: Clock;
  log: Log;
  pollMs: number;
  /** A level without a claimed job for this long goes first once; 0 or undefined is never. */
  ageingMs?: number | undefined;
  /** The longest pause between polls of a shard without work; undefined: none is longer. */
  quietMs?: number | undefined;
}

/** Where the outcomes of a round go back to. */
export type RoundOutbox = Pick<Outbox, 'write' | 'putBack' | 'conclude'>;

/** What one round writes and claims in one shard. */
export interface Round {
  outbox: RoundOutbox;
  instance: string;
  batch: readonly Finished[];
  limit: number;
  /** Takes claimed jobs, and starts them if there are slots. */
  accept(jobs: readonly Accepted[]): void;
  /** What the worker has; undefined where that is not known. */
  capacity?: Capacity;
}

/** How many jobs a worker may run or claim ahead, and those that it has in one shard. */
export interface Capacity {
  slots: number;
  running(): readonly Execution[];
}

/** A claimed job, its definition and its tenant. */
export interface Accepted {
  job: ClaimedJob;
  definition: DefinitionInfo;
  tenant: string;
  /** See `ServedQueue`; null also where the delivery has brought the secrets. */
  secretsMark: string | null;
}

/** The jobs of one shard, as one worker sees them. */
export interface ShardQueue {
  readonly shard: number;
  /** A round would probably find a job. */
  readonly hasWork: boolean;
  /** A round would probably find so few jobs that a second one beside it would find none. */
  readonly expectsFew: boolean;
  /** The time until `refresh` or a round may find work without a hint. */
  readonly dueInMs: number;
  /** Some levels probably have new jobs. False: they are not of this queue. */
  hint(hint: LevelHint): boolean;
  /** Hints may have been missed. */
  pollSoon(): void;
  refresh(): Promise<void>;
  /**
   * Whether outcomes of limited jobs have rounds of their own: what they give back is claimed again in the
   * same round.
   */
  readonly refills: boolean;
  /**
   * Writes a batch of outcomes and claims at most `limit` jobs. What cannot be written is put back
   * into the outbox. Returns how many it claimed.
   */
  readonly round: (round: Round) => Promise<number>;
  /**
   * Waits for a job, for queues that are far away; null: hints arrive without it. It is aborted when
   * the worker stops.
   */
  readonly wait: ((round: Round, signal: AbortSignal) => Promise<number>) | null;
  close(): Promise<void>;
}
