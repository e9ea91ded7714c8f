import { PARENTS_STEP } from '../../core/dependency/dependency.ts';
import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { failureOf } from '../../core/failure/failure.ts';
import { NO_USAGE } from '../../core/job/job.ts';
import type { DeliveredJob, TurnReply } from '../../protocol/worker-protocol.ts';
import { Execution } from '../attempt/execution.ts';
import type { Finished, Written } from '../attempt/outcome-writer.ts';
import { secretsFrom } from '../attempt/secrets.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Accepted, Lease } from '../claim/work-queue.ts';
import { type Claims, NOTHING_SAVED } from './claims.ts';
import { CallRefused, InstanceGone, type RemoteCalls } from './remote-calls.ts';

/** The server answers at once, unless it waits for a job. */
const ANSWER_MS = 10_000;
const UNHELD_MAX = 500;
/** Larger batches are sent in several calls. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/** Below the 60 s after which many proxies close a silent connection. */
const WAIT_MS = 15_000;
/** The body is refused, not the caller. */
const REFUSED_BODY = [400, 413, 422];

export interface TurnResult {
  results: Map<Finished, Written>;
  jobs: Accepted[];
}

interface Turn {
  instance: string;
  batch: readonly Finished[];
  room: number;
  waitMs: number;
  /** Also tells everything that is held: jobs whose delivery was lost come again. */
  declares: boolean;
  /** The worker holds nothing: no heartbeats are needed meanwhile. */
  idle?: boolean;
  /** False: the jobs are only given back. */
  starts?: false;
  signal?: AbortSignal;
}

/** Turns of a worker over HTTP. */
export class Turns {
  readonly #calls: RemoteCalls;
  readonly #claims: Claims;
  readonly #clock: Clock;
  #lease: Lease | undefined;
  #definitions = new Map<string, DefinitionInfo>();
  /** The lease, and how long a worker may wait that holds nothing; 0: the server cannot do that. */
  rests = { leaseMs: 0, waitMs: 0 };
  #waitMsMax = WAIT_MS;
  /** Number of registered definitions; null: they never change. */
  serves: number | null = null;

  constructor(calls: RemoteCalls, claims: Claims, clock: Clock) {
    this.#calls = calls;
    this.#claims = claims;
    this.#clock = clock;
  }

  onReleases: () => void = () => undefined;

  useLease(lease: Lease): void {
    this.#lease = lease;
  }

  get holdsNothing(): boolean {
    return this.#claims.size === 0;
  }

  get waitMsMax(): number {
    return this.#waitMsMax;
  }

  /** A longer wait than the server allows is of no use. */
  set waitMsMax(waitMs: number) {
    this.#waitMsMax = Math.min(WAIT_MS, waitMs);
  }

  serve(definitions: readonly DefinitionInfo[]): void {
    this.#definitions = new Map(definitions.map((one) => [`${one.key}@${one.version}`, one]));
  }

  async take(turn: Turn): Promise<TurnResult> {
    const { instance, batch } = turn;
    const reply = await this.#ask(turn).catch((error: unknown) => {
      // The next heartbeat gets the same answer, stops the jobs and registers anew.
      if (error instanceof InstanceGone && turn.room > 0) this.#lease?.beatSoon();
      throw error;
    });
    if (reply.beat) this.#lease?.beatSoon();
    if (reply.deployments) this.onReleases();
    const results = this.#results(batch, reply);
    const mayStart = await this.#mayStart(turn, reply);
    return {
      results,
      jobs: mayStart ? reply.jobs.flatMap((job) => this.#accepted(instance, job)) : [],
    };
  }

  /**
   * The answer may be late: no job starts without a lease. If there is none, a turn that wrote
   * outcomes still returns their results; the next heartbeats find its jobs unheld, and return them.
   */
  async #mayStart({ instance, batch, starts }: Turn, { jobs }: TurnReply): Promise<boolean> {
    if (jobs.length === 0 || starts === false) return true;
    try {
      await this.#lease?.confirm(instance);
      return true;
    } catch (error) {
      if (batch.length === 0) throw error;
      return false;
    }
  }

  /** An idle turn renews the lease from the moment it is sent. */
  async #ask({ instance, batch, room, waitMs, declares, idle, signal }: Turn): Promise<TurnReply> {
    const sentMs = this.#clock.monotonicMs();
    const untilMs = sentMs + waitMs + (this.rests.leaseMs * 11) / 12;
    const rests = idle === true && this.#lease?.rest(instance, untilMs) === true;
    let renewedMs: number | null = null;
    try {
      const reply = await this.#calls.call<TurnReply>({
        method: 'POST',
        path: `/v1/workers/${instance}/turn`,
        body: {
          masked: true,
          outcomes: batch.map(wireOutcome),
          room,
          waitMs,
          ...(rests && { idle: true }),
          ...(this.serves !== null && { serves: this.serves }),
          ...(declares && { holding: this.#claims.of(instance) }),
        },
        timeoutMs: waitMs + ANSWER_MS,
        signal,
      });
      renewedMs = sentMs;
      return reply;
    } finally {
      if (rests) this.#lease?.wake(instance, renewedMs);
    }
  }

  /** Whether one call can bring these outcomes: they are of this identity, and not too large. */
  fits(batch: readonly Finished[], instance: string): boolean {
    let bytes = 0;
    return batch.every((item) => {
      bytes += sizeOf(item);
      const of = this.#claims.instanceOf(item.execution.job) ?? instance;
      return of === instance && bytes <= BATCH_BYTES_MAX;
    });
  }

  /** Returns the jobs that the server thinks are here and are not. */
  async returnUnheld(instance: string): Promise<void> {
    const turn = { instance, batch: [], room: UNHELD_MAX, waitMs: 0, declares: true } as const;
    const { jobs } = await this.take({ ...turn, starts: false });
    const batch = jobs.map((one) => unstarted(one));
    if (batch.length > 0) await this.write(batch, instance);
  }

  /** Writes outcomes, those of former identities too. */
  async write(batch: readonly Finished[], instance: string): Promise<Map<Finished, Written>> {
    const results = new Map<Finished, Written>();
    for (const part of this.#parts(batch, instance)) {
      const turn = { ...part, room: 0, waitMs: 0, declares: false };
      const written = await this.take(turn).then(
        (answer) => answer.results,
        async (error: unknown) => {
          const { batch: sent } = part;
          if (!isRefusedOutcome(error)) return this.#gone(sent, error);
          return await this.#writeRefused(sent, instance, error);
        },
      );
      for (const [item, what] of written) results.set(item, what);
    }
    return results;
  }

  /** The server refused one of these outcomes: the others are sent alone, and it becomes a failure. */
  async #writeRefused(
    batch: readonly Finished[],
    instance: string,
    refusal: CallRefused,
  ): Promise<Map<Finished, Written>> {
    const [first, ...more] = batch;
    if (!first) return new Map();
    if (more.length === 0) {
      if (first.ended.outcome.kind === 'failure') throw refusal;
      const words = `the server refused the outcome: ${refusal.message}`;
      const error = failureOf('RESULT_INVALID', words);
      first.ended = { ...first.ended, outcome: { kind: 'failure', error, retryAfterMs: null } };
      return await this.write([first], instance);
    }
    const results = new Map<Finished, Written>();
    for (const item of batch) {
      for (const [one, what] of await this.write([item], instance)) results.set(one, what);
    }
    return results;
  }

  /** Splits a batch by identity and size. */
  #parts(batch: readonly Finished[], current: string): { instance: string; batch: Finished[] }[] {
    const parts: { instance: string; batch: Finished[]; bytes: number }[] = [];
    for (const item of batch) {
      const instance = this.#claims.instanceOf(item.execution.job) ?? current;
      const bytes = sizeOf(item);
      const open = parts.findLast((part) => part.instance === instance);
      if (!open || open.bytes + bytes > BATCH_BYTES_MAX) {
        parts.push({ instance, batch: [item], bytes });
      } else {
        open.batch.push(item);
        open.bytes += bytes;
      }
    }
    return parts;
  }

  /** The identity is not valid any more. An earlier try, whose answer was lost, may have counted. */
  #gone(batch: readonly Finished[], error: unknown): Map<Finished, Written> {
    if (!(error instanceof InstanceGone)) throw error;
    for (const { execution } of batch) this.#claims.delete(execution.job);
    return new Map(batch.map((item) => [item, 'gone']));
  }

  #results(batch: readonly Finished[], { settled }: TurnReply): Map<Finished, Written> {
    const answers = new Map(settled.map((one) => [`${one.id}:${one.claim}`, one]));
    const results = new Map<Finished, Written>();
    for (const item of batch) {
      const { id, claim } = item.execution.job;
      const answer = answers.get(`${id}:${claim}`);
      if (!answer) results.set(item, 'unknown');
      else {
        this.#claims.delete({ id, claim });
        const { outcome } = item.ended;
        const error = outcome.kind === 'failure' ? outcome.error : null;
        if (answer.next !== null) item.decided = { to: answer.next as NextState, error };
        results.set(item, answer.next === null ? 'stale' : 'written');
      }
    }
    return results;
  }

  #accepted(instance: string, sent: DeliveredJob): Accepted[] {
    const { id, claim, attempt, maxAttempts, paramsJson, interruptions, traceparent } = sent;
    const definition = this.#definitions.get(`${sent.key}@${sent.version}`);
    // A job that does not start here is found unheld by the next heartbeats, and returned.
    if (!definition) return [];
    const saved = sent.saved ?? NOTHING_SAVED;
    const secrets = sent.secrets ? secretsFrom(sent.secrets) : null;
    const isNew = this.#claims.add({ id, claim, instance, saved, secrets });
    if (!isNew) return [];
    const row = { id, claim, attempts: attempt, maxAttempts, interruptions, paramsJson };
    const where = { queue: 0, rank: 0, seq: 0, limited: false, watched: false, waitedMs: null };
    const hasParents = saved.steps.some(({ name }) => name === PARENTS_STEP);
    const { paramsShape } = sent;
    const policy = {
      timeoutMs: sent.timeoutMs,
      ...(hasParents && { hasParents }),
      ...(paramsShape !== undefined && { paramsShape }),
    };
    return [
      { job: { ...row, ...where, policy, traceparent }, definition, tenant: '', secretsMark: null },
    ];
  }
}

export function isRefusedOutcome(error: unknown): error is CallRefused {
  return error instanceof CallRefused && REFUSED_BODY.includes(error.status);
}

type NextState = NonNullable<Finished['decided']>['to'];

/** A job that does not start here. */
export function unstarted(accepted: Accepted): Finished {
  const execution = new Execution(0, accepted, 0);
  return { execution, ended: { outcome: { kind: 'unstarted' }, usage: NO_USAGE } };
}

function sizeOf({ ended: { outcome } }: Finished): number {
  return outcome.kind === 'success' ? outcome.resultJson.length : 1_000;
}

function wireOutcome({ execution, ended }: Finished) {
  const { id, claim } = execution.job;
  return {
    id,
    claim,
    outcome: ended.outcome,
    usage: ended.usage,
    durationMs: execution.durationMs,
  };
}
