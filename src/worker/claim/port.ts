import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { ClaimedJob, ClaimLevel } from '../../store/claim/claim.ts';
import type { NewEvent } from '../../store/attempt/events.ts';
import type { LimitedClaim } from '../../store/claim/limited-claim.ts';
import type { HeldFacts } from '../../store/claim/held-facts.ts';
import type { ServedQueue } from '../../store/enqueue/queues.ts';
import type { LogChunk } from '../../store/attempt/log-chunks.ts';
import type { ProgressUpdate } from '../../store/attempt/progress.ts';
import type { SettlementStatus } from '../../store/claim/settlement-status.ts';
import type { Settled, Settlement } from '../../store/claim/settle.ts';
import type { SavedSteps, StepWrite } from '../../store/attempt/steps.ts';
import type { SettleAndClaim, SettleAndClaimResult } from '../../store/claim/settle-and-claim.ts';
import type { Vault } from '../../store/connection/vault.ts';
import type { HeartbeatAnswer, LookAnswer, WorkerInstance } from '../../store/workers/workers.ts';

/**
 * Everything a worker needs of its queue, implemented on PostgreSQL (`postgres-queue.ts`). It is
 * small enough that a remote worker could use the queue over HTTP.
 */
export interface QueuePort {
  readonly shards: number;
  /** Decrypts what was claimed and encrypts what is stored: both are transferred as stored. */
  readonly vault: Vault;
  publish(definitions: readonly DefinitionInfo[]): Promise<void>;
  queues(shard: number, definitions: readonly DefinitionInfo[]): Promise<ServedQueue[]>;
  findLevels(shard: number, queues: readonly number[]): Promise<{ queue: number; rank: number }[]>;
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
  settlementStatusOf(shard: number, id: string, claim: number): Promise<SettlementStatus>;
  heldFacts(shard: number, id: string): Promise<HeldFacts | null>;
  writeLogs(shard: number, chunks: readonly LogChunk[]): Promise<void>;
  writeEvents(shard: number, events: readonly NewEvent[]): Promise<void>;
  /** False: the claim no longer owns the job. */
  saveStep(shard: number, step: StepWrite): Promise<boolean>;
  loadSteps(shard: number, id: string): Promise<SavedSteps>;
  saveProgress(shard: number, updates: readonly ProgressUpdate[]): Promise<void>;
  register(shard: number, worker: WorkerInstance): Promise<void>;
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
  readLease(shard: number, instance: string): Promise<LookAnswer>;
  retire(shard: number, instance: string): Promise<void>;
}
