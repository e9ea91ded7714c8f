import { describe, expect, it, test } from 'vitest';
import { RETRY_PRESETS } from '../failure/backoff.ts';
import { definitionInfo } from './check-definition.ts';
import { DefinitionError, type DefinitionPolicy, type RetryInput } from './definition.ts';
import { NO_LIMITS } from '../queue/limits.ts';
import { retryPolicy } from '../failure/retry-input.ts';

const info = (policy: Partial<DefinitionPolicy>) =>
  definitionInfo({ key: 'a', ...policy }, { paramsSchema: null });

/** The words of the refusal. Anything but a DefinitionError is a bug and fails the test. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DefinitionError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

test('the defaults are those of the design', () => {
  expect(info({})).toEqual({
    key: 'a',
    version: 1,
    owner: null,
    description: null,
    runbookUrl: null,
    maxAttempts: 3,
    timeoutMs: 3_600_000,
    stallTimeoutMs: null,
    retry: { baseMs: 1_000, maxMs: 60_000, jitter: 0.1 },
    retryOn: null,
    cancelGraceMs: null,
    maxInterruptions: 10,
    isolation: 'process',
    memoryMb: null,
    limits: NO_LIMITS,
    hooks: [],
    command: null,
    redact: [],
    schedules: [],
    paramsSchema: null,
    paramsShape: 1,
    group: null,
  });
});

test.each<[string, Partial<DefinitionPolicy>, object]>([
  ['defaultMaxAttempts is an alias', { defaultMaxAttempts: 7 }, { maxAttempts: 7 }],
  [
    'concurrencyLimitPerKey is an alias',
    { concurrencyLimitPerKey: 2 },
    { limits: { ...NO_LIMITS, concurrencyKeyLimit: 2 } },
  ],
  ['maxAttempts wins', { maxAttempts: 2, defaultMaxAttempts: 7 }, { maxAttempts: 2 }],
  ['a preset brings its attempts', { retry: 'webhook' }, { maxAttempts: 5 }],
  ['maxAttempts wins over it', { retry: 'webhook', maxAttempts: 1 }, { maxAttempts: 1 }],
  ['a preset brings its delays', { retry: 'report' }, { retry: RETRY_PRESETS['report']?.retry }],
  ['seconds become ms', { timeoutSeconds: 0.5 }, { timeoutMs: 500 }],
  ['a moment is still a time', { timeoutSeconds: 0.0001 }, { timeoutMs: 1 }],
  ['30 days are allowed', { timeoutSeconds: 2_592_000 }, { timeoutMs: 2_592_000_000 }],
  ['a stall timeout is kept', { stallTimeoutMs: 1_000 }, { stallTimeoutMs: 1_000 }],
  ['no grace is allowed', { cancelGraceMs: 0 }, { cancelGraceMs: 0 }],
  ['no interruption is allowed', { maxInterruptions: 0 }, { maxInterruptions: 0 }],
  ['retryOn is kept', { retryOn: ['TIMEOUT', 'NOT_FOUND'] }, { retryOn: ['TIMEOUT', 'NOT_FOUND'] }],
  ['retrying nothing is allowed', { retryOn: [] }, { retryOn: [] }],
  ['a process of its own', { isolation: 'fresh' }, { isolation: 'fresh' }],
  ['a thread of the worker', { isolation: 'thread' }, { isolation: 'thread' }],
  ['a limit of memory', { memoryMb: 256 }, { memoryMb: 256 }],
  ['a spread', { spread: 8 }, { limits: { ...NO_LIMITS, spread: 8 } }],
  ['what is hidden', { redact: ['card.number', '*.pin'] }, { redact: ['card.number', '*.pin'] }],
  ['no process at all', { isolation: 'inline' }, { isolation: 'inline' }],
  ['the owner is kept', { owner: 'team-media' }, { owner: 'team-media' }],
  ['a key of 200', { key: `a${'/'.repeat(199)}` }, { key: `a${'/'.repeat(199)}` }],
])('%s', (_, policy, expected) => expect(info(policy)).toMatchObject(expected));

describe('a bad value is refused in a sentence that names it', () => {
  it.each(['', '.a', 'a b', 'ä', 'a\n', 'a'.repeat(201), 5, undefined, null])('key %j', (key) => {
    const words = refusal(() => info({ key: key as string }));
    expect(words).toContain('key must be 1 to 200 letters');
    expect(words).toContain(String(JSON.stringify(key)));
  });

  it.each([
    ['version', 0, '1 to 2147483647'],
    ['version', 1.5, '1 to 2147483647'],
    ['maxAttempts', 0, '1 to 1000'],
    ['maxAttempts', 1_001, '1 to 1000'],
    ['maxAttempts', '3', '1 to 1000'],
    ['maxAttempts', Number.NaN, '1 to 1000'],
    ['stallTimeoutMs', 999, '1000 to 86400000'],
    ['stallTimeoutMs', 86_400_001, '1000 to 86400000'],
    ['cancelGraceMs', -1, '0 to 3600000'],
    ['cancelGraceMs', 3_600_001, '0 to 3600000'],
    ['maxInterruptions', -1, '0 to 1000000'],
    ['maxInterruptions', 1_000_001, '0 to 1000000'],
  ])('%s %j', (name, value, range) => {
    const words = refusal(() => info({ [name]: value }));
    expect(words).toBe(`a: ${name} must be a whole number from ${range}`);
  });

  it.each([0, -1, Number.NaN, 2_592_001, '60'])('timeoutSeconds %j', (value) => {
    const words = refusal(() => info({ timeoutSeconds: value as number }));
    expect(words).toBe('a: timeoutSeconds must be above 0 and at most 2592000 (30 days)');
  });

  it.each([
    [['TIMEOUTS'], 'a: retryOn: unknown error code "TIMEOUTS": did you mean "TIMEOUT"?'],
    [['toString'], 'a: retryOn: unknown error code "toString"'],
    ['TIMEOUT', 'a: retryOn must be a list of error codes'],
    [null, 'a: retryOn must be a list of error codes'],
  ])('retryOn %j', (retryOn, expected) => {
    expect(refusal(() => info({ retryOn: retryOn as string[] }))).toBe(expected);
  });

  it.each([
    [{ jiter: 0.5 }, 'a: unknown field of retry "jiter": did you mean "jitter"?'],
    [{ delaysMs: [1], maxMs: 5 }, 'a: unknown field of retry "maxMs": known are delaysMs, jitter'],
  ])('retry %j', (retry, expected) => {
    expect(refusal(() => info({ retry: retry as RetryInput }))).toBe(expected);
  });

  it.each([
    [{ redact: ['card..number'] }, "a: redact must list at most 100 paths like 'card.number'"],
    [{ redact: [''] }, "a: redact must list at most 100 paths like 'card.number'"],
    [{ memoryMb: 10 }, 'a: memoryMb must be a whole number from 64 to 1048576'],
    [
      { memoryMb: 256, isolation: 'inline' },
      "a: memoryMb cannot be enforced with isolation 'inline'",
    ],
  ] as const)('memory and redact %j', (policy, expected) => {
    expect(refusal(() => info(policy))).toBe(expected);
  });

  it.each([
    ['proces', 'a: unknown isolation "proces": did you mean "process"?'],
    ['docker', 'a: unknown isolation "docker": known are process, fresh, thread, inline'],
    [5, 'a: unknown isolation "5": known are process, fresh, thread, inline'],
  ])('isolation %j', (isolation, expected) => {
    expect(refusal(() => info({ isolation: isolation as 'inline' }))).toBe(expected);
  });

  it.each([7, '', {}, null])('owner %j', (owner) => {
    const words = refusal(() => info({ owner: owner as string }));
    expect(words).toBe('a: owner must be a name');
  });
});

describe('a retry policy', () => {
  it.each<[RetryInput | undefined, object]>([
    [undefined, { baseMs: 1_000, maxMs: 60_000, jitter: 0.1 }],
    [{}, { baseMs: 1_000, maxMs: 60_000, jitter: 0.1 }],
    [{ baseMs: 5 }, { baseMs: 5, maxMs: 60_000, jitter: 0.1 }],
    [{ baseMs: 90_000 }, { baseMs: 90_000, maxMs: 90_000, jitter: 0.1 }],
    [
      { maxMs: 2_000, jitter: 0 },
      { baseMs: 1_000, maxMs: 2_000, jitter: 0 },
    ],
    [{ delaysMs: [0, 5] }, { delaysMs: [0, 5], jitter: 0.1 }],
    [
      { delaysMs: [7], jitter: 1 },
      { delaysMs: [7], jitter: 1 },
    ],
    ['cleanup', { delaysMs: [300_000, 900_000], jitter: 0.1 }],
  ])('%j is completed', (input, expected) => expect(retryPolicy(input)).toEqual(expected));

  it.each([
    [{ jitter: 1.1 }, 'retry.jitter must be a number from 0 to 1'],
    [{ jitter: -0.1 }, 'retry.jitter must be a number from 0 to 1'],
    [{ baseMs: -1 }, 'retry.baseMs must be a number from 0 to 31622400000'],
    [{ baseMs: '5' }, 'retry.baseMs must be a number from 0 to 31622400000'],
    [{ maxMs: Number.NaN }, 'retry.maxMs must be a number from 0 to 31622400000'],
    [{ delaysMs: [] }, 'retry.delaysMs must list at least one delay'],
    [{ delaysMs: 5 }, 'retry.delaysMs must list at least one delay'],
    [{ delaysMs: [1, -1] }, 'retry.delaysMs must be a number from 0 to 31622400000'],
    ['webhooks', 'unknown retry preset "webhooks": did you mean "webhook"?'],
    ['toString', 'unknown retry preset "toString": known are webhook, report, cleanup'],
    ['__proto__', 'unknown retry preset "__proto__": known are webhook, report, cleanup'],
    [null, 'retry must be a preset, or an object'],
    [5, 'retry must be a preset, or an object'],
  ])('%j is refused', (input, words) => {
    expect(refusal(() => retryPolicy(input as RetryInput))).toBe(words);
  });
});
