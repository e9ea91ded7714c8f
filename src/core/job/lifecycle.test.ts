import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { FAILURE_CODES, failureOf, type FailureCode } from '../failure/failure.ts';
import { JOB_STATES, type JobState, TERMINAL_STATES, WAITING_STATES } from './job.ts';
import { FIRST_STATES, isLegal, TRANSITIONS } from './transitions.ts';
import { decide, type Outcome, type RunningJob, type Transition } from './lifecycle.ts';

/** Every legal transition, written by hand, so that the test does not repeat the code. */
const LEGAL: Record<JobState, JobState[]> = {
  created: ['scheduled', 'queued', 'cancelled', 'failed'],
  scheduled: ['queued', 'cancelled', 'failed'],
  queued: ['running', 'cancelled', 'failed'],
  running: ['succeeded', 'retrying', 'queued', 'failed', 'scheduled', 'suspended', 'cancelling'],
  retrying: ['queued', 'cancelled', 'failed'],
  suspended: ['queued', 'cancelled', 'failed'],
  cancelling: ['cancelled', 'succeeded'],
  succeeded: [],
  failed: ['queued', 'scheduled', 'suspended'],
  cancelled: ['queued', 'scheduled', 'suspended'],
};

describe('the table', () => {
  const pairs = JOB_STATES.flatMap((from) => JOB_STATES.map((to) => [from, to] as const));

  it.each(pairs)('%s -> %s is legal exactly when the design says so', (from, to) => {
    expect(isLegal(from, to)).toBe(LEGAL[from].includes(to));
  });

  it('lists each legal move once, with a reason and an actor', () => {
    const listed = TRANSITIONS.map(({ from, to }) => `${from} -> ${to}`);
    const expected = JOB_STATES.flatMap((from) => LEGAL[from].map((to) => `${from} -> ${to}`));
    expect([...listed].sort()).toEqual(expected.sort());
    expect(TRANSITIONS.filter(({ why, who }) => why === '' || who === '')).toEqual([]);
  });

  it('lets a job be born held, scheduled, queued or after others, and in no other state', () => {
    expect(FIRST_STATES).toEqual(['created', 'scheduled', 'queued', 'suspended']);
  });
});

const job: RunningJob = {
  state: 'running',
  attempts: 1,
  maxAttempts: 3,
  interruptions: 0,
  maxInterruptions: 2,
  retry: { baseMs: 100, maxMs: 1_000, jitter: 0 },
  retryOn: null,
};
const lastAttempt = { attempts: 3 };
const success: Outcome = { kind: 'success', resultJson: '{"bytes":1}' };
const lost: Outcome = { kind: 'lost', message: 'gone' };
const interrupted: Outcome = { kind: 'interrupted', message: 'deploy' };
const unstarted: Outcome = { kind: 'unstarted' };
const snoozed: Outcome = { kind: 'snoozed', delayMs: 5_000 };
const suspended: Outcome = { kind: 'suspended', signal: 'approved', timeoutMs: 5_000 };
const failure = (code: FailureCode, retryAfterMs: number | null = null): Outcome => ({
  kind: 'failure',
  error: failureOf(code, 'no'),
  retryAfterMs,
});

const still = {
  delayMs: 0,
  attemptRefunded: false,
  interrupted: false,
  attempted: true,
  waitsFor: null,
  error: null,
  resultJson: null,
};
const error = (code: FailureCode, message = 'no') => ({ error: failureOf(code, message) });
const givenBack = { attemptRefunded: true };

type Row = [string, Partial<RunningJob>, Outcome, Pick<Transition, 'to'> & Partial<Transition>];

describe('a running job', () => {
  test.each<Row>([
    ['returned', {}, success, { to: 'succeeded', resultJson: '{"bytes":1}' }],
    ['returned at last', lastAttempt, success, { to: 'succeeded', resultJson: '{"bytes":1}' }],
    ['threw', {}, failure('HANDLER_ERROR'), retry(100)],
    ['threw again', { attempts: 2 }, failure('HANDLER_ERROR'), retry(200)],
    ['threw at last', lastAttempt, failure('HANDLER_ERROR'), fail('HANDLER_ERROR')],
    ['threw beyond its limit', { attempts: 4 }, failure('HANDLER_ERROR'), fail('HANDLER_ERROR')],
    ['was asked to wait', {}, failure('RATE_LIMITED', 7_000), retry(7_000, 'RATE_LIMITED')],
    ['was asked to wait at last', lastAttempt, failure('TIMEOUT', 7), fail('TIMEOUT')],
    ['cannot be retried', {}, failure('NON_RETRYABLE'), fail('NON_RETRYABLE')],
    ['has stale params', {}, failure('PAYLOAD_INVALID'), fail('PAYLOAD_INVALID', givenBack)],
    [
      'has stale params, whatever retryOn says',
      { retryOn: ['PAYLOAD_INVALID'] },
      failure('PAYLOAD_INVALID'),
      fail('PAYLOAD_INVALID', givenBack),
    ],
    ['threw, not in retryOn', { retryOn: ['TIMEOUT'] }, failure('CRASHED'), fail('CRASHED')],
    ['threw, in retryOn', { retryOn: ['TIMEOUT'] }, failure('TIMEOUT'), retry(100, 'TIMEOUT')],
    [
      'threw what only retryOn retries',
      { retryOn: ['NOT_FOUND'] },
      failure('NOT_FOUND'),
      retry(100, 'NOT_FOUND'),
    ],
    ['retries nothing', { retryOn: [] }, failure('CRASHED'), fail('CRASHED')],
    ['lost its lease', {}, lost, { to: 'queued', ...error('LEASE_EXPIRED', 'gone') }],
    ['lost its lease at last', lastAttempt, lost, fail('LEASE_EXPIRED', {}, 'gone')],
    [
      'was interrupted',
      { ...lastAttempt, interruptions: 1 },
      interrupted,
      { to: 'queued', interrupted: true, ...givenBack, ...error('INTERRUPTED', 'deploy') },
    ],
    [
      'was interrupted once too often',
      { interruptions: 2 },
      interrupted,
      fail('INTERRUPTED', {}, 'deploy'),
    ],
    [
      'may not be interrupted at all',
      { maxInterruptions: 0 },
      interrupted,
      fail('INTERRUPTED', {}, 'deploy'),
    ],
    ['snoozed', lastAttempt, snoozed, { to: 'scheduled', delayMs: 5_000, ...givenBack }],
    [
      'a sleep',
      lastAttempt,
      { ...snoozed, sleep: true },
      { to: 'scheduled', delayMs: 5_000, waitsFor: ':sleep', ...givenBack },
    ],
    [
      'waits for a signal',
      lastAttempt,
      suspended,
      { to: 'suspended', waitsFor: 'approved', delayMs: 5_000, ...givenBack },
    ],
    ['never began', lastAttempt, unstarted, { to: 'queued', attempted: false, ...givenBack }],
  ])('that %s', (_, changes, outcome, expected) => {
    expect(decide({ ...job, ...changes }, outcome, 0.5)).toEqual({ ...still, ...expected });
  });

  test.each(Object.entries(FAILURE_CODES))(
    'that failed with %s goes by its table',
    (code, { retryable }) => {
      const { to } = decide(job, failure(code as FailureCode), 0.5);
      expect(to).toBe(retryable ? 'retrying' : 'failed');
    },
  );
});

describe('a cancelling job', () => {
  const outcomes = [
    failure('CRASHED'),
    failure('PAYLOAD_INVALID'),
    lost,
    interrupted,
    snoozed,
    suspended,
  ];
  const budgets = [{}, lastAttempt, { interruptions: 2 }, { retryOn: ['CRASHED'] }];
  const rows = outcomes.flatMap((outcome) => budgets.map((budget) => [outcome, budget] as const));

  test.each(rows)('is cancelled without an error by %j with %j', (outcome, budget) => {
    const decided = decide({ ...job, ...budget, state: 'cancelling' }, outcome, 0.5);
    expect(decided).toEqual({ ...still, to: 'cancelled' });
  });

  it('is cancelled without an attempt to tell of when it never began', () => {
    const decided = decide({ ...job, state: 'cancelling' }, unstarted, 0.5);
    expect(decided).toEqual({ ...still, to: 'cancelled', attempted: false, ...givenBack });
  });

  it('succeeds when it finished first', () => {
    const decided = decide({ ...job, state: 'cancelling' }, success, 0.5);
    expect(decided).toEqual({ ...still, to: 'succeeded', resultJson: '{"bytes":1}' });
  });
});

function retry(delayMs: number, code: FailureCode = 'HANDLER_ERROR') {
  return { to: 'retrying', delayMs, ...error(code) } as const;
}

function fail(code: FailureCode, more: Partial<Transition> = {}, message = 'no') {
  return { to: 'failed', ...error(code, message), ...more } as const;
}

const anyCode = fc.constantFrom(...(Object.keys(FAILURE_CODES) as FailureCode[]));
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom(success, lost, interrupted, snoozed, suspended),
  fc
    .tuple(anyCode, fc.option(fc.nat(), { nil: null }))
    .map(([code, afterMs]) => failure(code, afterMs)),
);
const anyJob: fc.Arbitrary<RunningJob> = fc.record({
  state: fc.constantFrom('running', 'cancelling'),
  attempts: fc.integer({ min: 1, max: 6 }),
  maxAttempts: fc.integer({ min: 1, max: 5 }),
  interruptions: fc.nat(4),
  maxInterruptions: fc.nat(3),
  retry: fc.constant(job.retry),
  retryOn: fc.option(fc.array(anyCode, { maxLength: 3 }), { nil: null }),
});
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('whatever happens', () => {
  it('the move is legal, and an end without an error is no failure', () => {
    fc.assert(
      fc.property(anyJob, anyOutcome, anyRandom, (some, outcome, random) => {
        const { to, error: why, delayMs, resultJson } = decide(some, outcome, random);
        expect(isLegal(some.state, to)).toBe(true);
        expect(why !== null).toBe(['failed', 'retrying', 'queued'].includes(to));
        expect(resultJson !== null).toBe(to === 'succeeded');
        expect(delayMs).toBeGreaterThanOrEqual(0);
        if ((TERMINAL_STATES as readonly string[]).includes(to)) expect(delayMs).toBe(0);
      }),
    );
  });

  it('a job is never claimed for more than maxAttempts charged attempts, and it ends', () => {
    const lives = fc.array(anyOutcome, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(anyJob, lives, anyRandom, (some, outcomes, random) => {
        let life = { ...some, state: 'running' as const, attempts: 0, interruptions: 0 };
        let waits = 0;
        let claims = 0;
        for (const outcome of outcomes) {
          life = { ...life, attempts: life.attempts + 1 };
          claims += 1;
          expect(life.attempts).toBeLessThanOrEqual(life.maxAttempts);
          const next = decide(life, outcome, random);
          if (!(WAITING_STATES as readonly string[]).includes(next.to)) break;
          life.attempts -= next.attemptRefunded ? 1 : 0;
          life.interruptions += next.interrupted ? 1 : 0;
          waits += outcome.kind === 'snoozed' || outcome.kind === 'suspended' ? 1 : 0;
        }
        expect(claims).toBeLessThanOrEqual(life.maxAttempts + life.maxInterruptions + waits);
      }),
    );
  });
});
