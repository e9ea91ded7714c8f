import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { ClaimedJob, ClaimLevel } from '../../store/claim/claim.ts';
import type { NewEvent } from '../../store/attempt/events.ts';
import type { LimitedClaim } from '../../store/claim/limited-claim.ts';
import type { RunningFacts } from '../../store/claim/running-facts.ts';
import type { ServedQueue } from '../../store/enqueue/queues.ts';
import type { LogChunk } from '../../store/attempt/log-chunks.ts';
import type { StreamChunk } from '../../store/attempt/stream-chunks.ts';
import type { ProgressUpdate } from '../../store/attempt/progress.ts';
import type { SettlementStatus } from '../../store/claim/settlement-status.ts';
import type { Settled, Settlement } from '../../store/claim/settle.ts';
import type { ChildRequest } from '../../core/dependency/children.ts';
import type { StoredChild } from '../../store/edges/load-children.ts';
import type { StoredOutcome } from '../../store/edges/load-outcomes.ts';
import type { SaveAnswer } from '../ipc.ts';
import type { SavedSteps, StepWrite } from '../../store/attempt/steps.ts';
import type { SettleAndClaim, SettleAndClaimResult } from '../../store/claim/settle-and-claim.ts';
import type { Timing } from '../../store/counters/timings.ts';
import type { LargeValues } from '../../large/large-values.ts';
import type { Vault } from '../../store/connection/vault.ts';
import type { HeartbeatAnswer, LeaseAnswer, WorkerInstance } from '../../store/workers/workers.ts';

/** Children that a running job asks for. */
export interface SpawnRequest {
  id: string;
  claim: number;
  tenant: string;
  /** The trace context of the job, which its children get. */
  traceparent: string | null;
  children: readonly ChildRequest[];
}

/** The statements behind a worker with a database connection (`direct-queue.ts`). */
export interface WorkerStore {
  readonly shards: number;
  /** Decrypts what was claimed and encrypts what is stored: both are transferred as stored. */
  readonly vault: Vault;
  /** Reads and writes large values; absent where none can be. */
  readonly large?: LargeValues | undefined;
  /** Calls back for what it leaves out, such as an invalid schedule in the code. */
  publish(
    definitions: readonly DefinitionInfo[],
    onProblem?: (problem: string) => void,
  ): Promise<void>;
  queues(shard: number, definitions: readonly DefinitionInfo[]): Promise<ServedQueue[]>;
  claim(
    shard: number,
    limit: number,
    instance: string,
    levels: readonly ClaimLevel[],
  ): Promise<ClaimedJob[]>;
  /** Claims from queues that have limits: also takes permits. */
  claimLimited(
    shard: number,
    limit: number,
    instance: string,
    levels: readonly ClaimLevel[],
  ): Promise<LimitedClaim>;
  /** Settles plain successes and claims, in one statement and one commit. */
  settleAndClaim(shard: number, batch: SettleAndClaim): Promise<SettleAndClaimResult>;
  settle(shard: number, settlements: readonly Settlement[]): Promise<Settled[]>;
  /** Settles claims whose answer was not sent, unless another answer may have delivered them. */
  settleUndelivered(
    shard: number,
    instance: string,
    settlements: readonly Settlement[],
  ): Promise<Settled[]>;
  writeTimings(shard: number, timings: readonly Timing[]): Promise<void>;
  settlementStatusOf(shard: number, id: string, claim: number): Promise<SettlementStatus>;
  runningFacts(shard: number, id: string): Promise<RunningFacts | null>;
  writeLogs(shard: number, chunks: readonly LogChunk[]): Promise<void>;
  writeEvents(shard: number, events: readonly NewEvent[]): Promise<void>;
  writeStreams(shard: number, chunks: readonly StreamChunk[]): Promise<void>;
  /** False: the claim no longer owns the job. */
  saveStep(shard: number, step: StepWrite): Promise<boolean>;
  loadSteps(shard: number, id: string): Promise<SavedSteps>;
  /** The outcomes of the jobs that a job waited for; results as they are stored. */
  loadParents(shard: number, id: string): Promise<StoredOutcome[]>;
  /** The children of a job; null where they come with its steps. */
  loadChildren(shard: number, id: string): Promise<StoredChild[] | null>;
  /** Stores children of a running job, if the claim still owns it. */
  spawn(shard: number, request: SpawnRequest): Promise<SaveAnswer>;
  saveProgress(shard: number, updates: readonly ProgressUpdate[]): Promise<void>;
  /** Throws `CannotOpen`. */
  readSecrets(tenant: string, definitionKey: string): Promise<Record<string, string>>;
  register(shard: number, worker: WorkerInstance): Promise<void>;
  /** The definitions of the worker have changed. */
  announce(
    shard: number,
    instance: string | null,
    definitions: readonly DefinitionInfo[],
  ): Promise<void>;
  /**
   * Renews the lease. `contactMs`: the worker stops this long after its last renewal or read of the
   * lease.
   */
  heartbeat(
    shard: number,
    instance: string,
    leaseMs: number,
    contactMs: number | null,
  ): Promise<HeartbeatAnswer>;
  /** The same answer without a renewal. */
  readLease(shard: number, instance: string): Promise<LeaseAnswer>;
  retire(shard: number, instance: string): Promise<void>;
}
