import type {
  BeatReply,
  BeatRequest,
  DeliveredJob,
  RegisterRequest,
  TurnReply,
  TurnRequest,
} from '../../protocol/worker-protocol.ts';
import { type ClaimId, claimName, names } from './calls.ts';

/** A job of the played server. */
export interface PlayedJob {
  readonly id: string;
  readonly key: string;
  readonly paramsJson: string;
  claim: number;
  state: 'queued' | 'running' | 'succeeded' | 'failed';
  owner: string | null;
  cancelled: boolean;
}

interface Registered {
  slots: number;
  keys: readonly string[];
  leaseMs: number;
  /** The next turn answers `beat: true`. */
  news: boolean;
  draining: boolean;
}

/** The jobs and workers of the played server, in memory. It knows nothing of HTTP and faults. */
export class MemoryQueue {
  readonly workers = new Map<string, Registered>();
  readonly #over = new Set<string>();
  readonly #jobs: PlayedJob[] = [];
  /** What became of each settled claim. */
  readonly #settled = new Map<string, string>();

  add(job: Pick<PlayedJob, 'id' | 'key' | 'paramsJson'>): PlayedJob {
    const fresh = { claim: 0, state: 'queued', owner: null, cancelled: false } as const;
    const added: PlayedJob = { ...job, ...fresh };
    this.#jobs.push(added);
    return added;
  }

  /** False: this id is over. */
  register(instance: string, body: RegisterRequest, leaseMs: number): boolean {
    if (this.#over.has(instance)) return false;
    const keys = body.definitions.map(({ key }) => key);
    const known = this.workers.get(instance);
    const state = { news: known?.news ?? false, draining: known?.draining ?? false };
    this.workers.set(instance, { slots: body.slots, keys, leaseMs, ...state });
    return true;
  }

  /** Its calls are answered with 410 from now on. Its jobs are dropped. */
  expire(instance: string): void {
    this.workers.delete(instance);
    this.#over.add(instance);
    for (const job of this.#owned(instance)) this.drop(job);
  }

  /** The job does not belong to its worker any more. */
  drop(job: PlayedJob): void {
    Object.assign(job, { state: 'failed', owner: null });
  }

  settle(instance: string, reported: TurnRequest['outcomes']): TurnReply['settled'] {
    return reported.map((one) => {
      const { id, claim, outcome } = one;
      const job = this.#owned(instance).find((owned) => names([owned], one));
      if (job) {
        const isOver = outcome.kind === 'success' || outcome.kind === 'failure';
        job.state = outcome.kind === 'success' ? 'succeeded' : isOver ? 'failed' : 'queued';
        job.owner = null;
        this.#settled.set(claimName(one), job.state);
      }
      return { id, claim, next: this.#settled.get(claimName(one)) ?? null };
    });
  }

  hasJobFor(instance: string): boolean {
    return this.#claimable(instance).length > 0;
  }

  claim(instance: string, room: number): DeliveredJob[] {
    return this.#claimable(instance)
      .slice(0, room)
      .map((job) => {
        Object.assign(job, { claim: job.claim + 1, state: 'running', owner: instance });
        return delivered(job);
      });
  }

  /** What the worker owns and neither holds nor reports. */
  unheld(instance: string, held: readonly ClaimId[], room: number): DeliveredJob[] {
    return this.#owned(instance)
      .filter((job) => !names(held, job))
      .slice(0, room)
      .map(delivered);
  }

  beat(instance: string, { holding }: BeatRequest): BeatReply {
    const owned = this.#owned(instance);
    const held = owned.filter((job) => names(holding, job));
    const ids = new Set(holding.map(({ id }) => id));
    return {
      cancel: held.filter(({ cancelled }) => cancelled).map(({ id }) => id),
      gone: [...ids].filter((id) => !held.some((job) => job.id === id)),
      unheld: owned
        .filter(({ id }) => !ids.has(id))
        .map(({ id, claim }) => ({ id, claim, attempt: 1 })),
      drain: this.workers.get(instance)?.draining ?? false,
    };
  }

  #owned(instance: string): PlayedJob[] {
    return this.#jobs.filter(({ owner }) => owner === instance);
  }

  #claimable(instance: string): PlayedJob[] {
    const keys = this.workers.get(instance)?.keys ?? [];
    return this.#jobs.filter(({ state, key }) => state === 'queued' && keys.includes(key));
  }
}

export function delivered({ id, claim, key, paramsJson }: PlayedJob): DeliveredJob {
  const facts = { attempt: 1, maxAttempts: 3, version: 1, timeoutMs: 3_600_000 };
  const rest = { interruptions: 0, traceparent: null, saved: null };
  return { id, claim, key, paramsJson, ...facts, ...rest };
}
