import type { Usage } from '../../../src/core/job/job.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { failure } from '../jobs.ts';
import { CHILDREN, type Model, type ModelError, type ModelJob } from './model.ts';

const HOUR_MS = 3_600_000;

/** The rules of the model's definitions. Nothing that waits becomes due while a run goes on. */
export const RULES = {
  maxInterruptions: 1,
  retry: { baseMs: HOUR_MS, maxMs: 1.5 * HOUR_MS, jitter: 0.1 },
  retryOn: null,
} as const;

/** A result that PostgreSQL cannot take: the statement that carries it must leave no trace. */
export const POISON: Outcome = { kind: 'success', resultJson: 'no json' };

/** What stands here twice comes twice as often: jobs should live on more often than end. */
export const OUTCOMES: readonly Outcome[] = [
  { kind: 'success', resultJson: '{"ok":true}' },
  { kind: 'success', resultJson: 'null' },
  { kind: 'success', resultJson: '[1]' },
  failure('HANDLER_ERROR'),
  failure('HANDLER_ERROR'),
  failure('CRASHED', 'signal 9'),
  failure('RATE_LIMITED', 'slow down', 2 * HOUR_MS),
  failure('UPSTREAM_5XX', 'at once', 0),
  failure('UPSTREAM_5XX', 'at once', 0),
  failure('NON_RETRYABLE'),
  failure('PAYLOAD_INVALID'),
  { kind: 'lost', message: 'gone' },
  { kind: 'lost', message: 'gone' },
  { kind: 'interrupted', message: 'deploy' },
  { kind: 'unstarted' },
  { kind: 'snoozed', delayMs: HOUR_MS },
  { kind: 'snoozed', delayMs: 0 },
  { kind: 'suspended', signal: 'go', timeoutMs: HOUR_MS },
  { kind: 'suspended', signal: 'go', timeoutMs: HOUR_MS },
  { kind: 'suspended', signal: 'stop', timeoutMs: 0 },
  { kind: 'suspended', children: true },
  POISON,
];

/** No jitter, or all of it downwards: both leave whole milliseconds. */
export const RANDOMS = [0.5, 0] as const;

/** What a process that was killed may have used. */
export const USAGE: Usage = {
  pid: 7,
  exitCode: 137,
  signal: 'SIGKILL',
  peakRssBytes: 5_000_000_000,
  cpuMs: 12,
};

/** How a claim ended, and what it used. */
export interface End {
  outcome: Outcome;
  usage: Usage;
  random: number;
}

const FINAL = ['NON_RETRYABLE', 'PAYLOAD_INVALID'];

/** Applies an outcome of the owning claim, independent of `decide()`. */
export function settleInModel(model: Model, id: string, { outcome, usage, random }: End): void {
  const job = model.job(id);
  const { attempts, maxAttempts, claim, worker, interruptions } = job;

  const tried = (error: ModelError | null) => ({
    tried: [...job.tried, { claim, number: attempts, worker, usage, error }],
  });
  const waits = (changes: Partial<ModelJob>) => {
    const unowned = {
      worker: null,
      progress: null,
      runAt: null,
      position: null,
      queuedStep: null,
    } as const;
    model.change(id, { ...unowned, ...changes });
  };
  const inLine = (changes: Partial<ModelJob>) =>
    waits({ state: 'queued', position: model.nextPosition(), ...changes });
  const backInLine = (changes: Partial<ModelJob>) =>
    inLine({ position: job.heldPosition ?? 0, returnedBy: model.currentStep, ...changes });
  const later = (waitMs: number) => ({ runAt: { waitMs, due: waitMs === 0 } });
  const ends = (changes: Partial<ModelJob>) => model.change(id, { usage, ...changes });
  const dead = (error: ModelError, given = 0) =>
    ends({ state: 'failed', attempts: attempts - given, error, ...tried(error) });

  if (outcome.kind === 'success') {
    return ends({ state: 'succeeded', result: JSON.parse(outcome.resultJson) });
  }
  if (job.state === 'cancelling') {
    const given = outcome.kind === 'unstarted' ? 1 : 0;
    return ends({ state: 'cancelled', attempts: attempts - given, ...tried(null) });
  }
  switch (outcome.kind) {
    case 'unstarted':
      return inLine({ attempts: attempts - 1 });
    case 'snoozed':
      return waits({
        state: 'scheduled',
        attempts: attempts - 1,
        ...later(outcome.delayMs),
        ...tried(null),
      });
    case 'suspended':
      return waits({
        state: 'suspended',
        waitsFor: outcome.children ? CHILDREN : outcome.signal,
        attempts: attempts - 1,
        ...(!outcome.children && later(outcome.timeoutMs)),
        ...tried(null),
      });
    case 'interrupted': {
      const error = { code: 'INTERRUPTED', message: outcome.message };
      if (interruptions === RULES.maxInterruptions) return dead(error);
      const more = { attempts: attempts - 1, interruptions: interruptions + 1 };
      return backInLine({ ...more, ...tried(error) });
    }
    case 'lost': {
      const error = { code: 'LEASE_EXPIRED', message: outcome.message };
      return attempts === maxAttempts ? dead(error) : backInLine(tried(error));
    }
    case 'failure': {
      const { code, message } = outcome.error;
      const error = { code, message };
      if (code === 'PAYLOAD_INVALID') return dead(error, 1);
      if (FINAL.includes(code) || attempts === maxAttempts) return dead(error);
      const backoffMs = Math.min(1.5 * HOUR_MS, HOUR_MS * 2 ** (attempts - 1));
      const waitMs = outcome.retryAfterMs ?? backoffMs * (random === 0 ? 0.9 : 1);
      return waits({ state: 'retrying', ...later(waitMs), ...tried(error) });
    }
  }
}
