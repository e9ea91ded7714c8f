import { describe, expect, it, test } from 'vitest';
import { classify, codeOfStatus, parseRetryAfter } from './classify.ts';
import { NonRetryable, RetryAfter } from '../definition/define.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const IN_A_MINUTE = 'Sun, 01 Mar 2026 12:01:00 GMT';
const verdict = (thrown: unknown) => {
  const { error, retryAfterMs } = classify(thrown, NOW);
  return retryAfterMs === null ? error.code : [error.code, retryAfterMs];
};
const failing = (fields: object, message = 'failed') => Object.assign(new Error(message), fields);

const STATUSES = [
  [400, 'NON_RETRYABLE'],
  [401, 'AUTHENTICATION_FAILED'],
  [403, 'AUTHENTICATION_FAILED'],
  [404, 'NOT_FOUND'],
  [408, 'TIMEOUT'],
  [409, 'NON_RETRYABLE'],
  [410, 'NOT_FOUND'],
  [422, 'NON_RETRYABLE'],
  [429, 'RATE_LIMITED'],
  [499, 'NON_RETRYABLE'],
  [500, 'UPSTREAM_5XX'],
  [503, 'UPSTREAM_5XX'],
  [599, 'UPSTREAM_5XX'],
] as const;

describe('an HTTP status decides', () => {
  it.each(STATUSES)('%i is %s wherever the library puts it', (status, code) => {
    expect(codeOfStatus(status)).toBe(code);
    expect(verdict(failing({ status }))).toBe(code);
    expect(verdict(failing({ statusCode: status }))).toBe(code);
    expect(verdict(failing({ response: { status } }))).toBe(code);
    expect(verdict({ status })).toBe(code);
  });

  it.each([0, 200, 302, 399, 600, Number.NaN])('%d is no failure of the other side', (status) => {
    expect(verdict(failing({ status }))).toBe('HANDLER_ERROR');
  });
});

describe('an error code decides', () => {
  it.each([
    ['ECONNREFUSED', 'NETWORK_ERROR'],
    ['ECONNRESET', 'NETWORK_ERROR'],
    ['ENOTFOUND', 'NETWORK_ERROR'],
    ['EAI_AGAIN', 'NETWORK_ERROR'],
    ['EPIPE', 'NETWORK_ERROR'],
    ['UND_ERR_SOCKET', 'NETWORK_ERROR'],
    ['ETIMEDOUT', 'TIMEOUT'],
    ['ERR_MEMORY_ALLOCATION_FAILED', 'OUT_OF_MEMORY'],
    ['ERR_WORKER_OUT_OF_MEMORY', 'OUT_OF_MEMORY'],
    ['UND_ERR_CONNECT_TIMEOUT', 'TIMEOUT'],
    ['UND_ERR_HEADERS_TIMEOUT', 'TIMEOUT'],
    ['RATE_LIMITED', 'RATE_LIMITED'],
    ['OUT_OF_MEMORY', 'OUT_OF_MEMORY'],
    ['ENOENT', 'HANDLER_ERROR'],
    ['toString', 'HANDLER_ERROR'],
    [23505, 'HANDLER_ERROR'],
  ])('%s is %s', (code, expected) => expect(verdict(failing({ code }))).toBe(expected));

  it('before a status does', () => {
    expect(verdict(failing({ code: 'ECONNRESET', status: 404 }))).toBe('NETWORK_ERROR');
    expect(verdict(failing({ code: 'ERR_BAD_RESPONSE', status: 502 }))).toBe('UPSTREAM_5XX');
  });

  it('and a buffer that found no room is known by its words', () => {
    expect(verdict(new RangeError('Array buffer allocation failed'))).toBe('OUT_OF_MEMORY');
    expect(verdict(new RangeError('Invalid array length'))).toBe('HANDLER_ERROR');
  });

  it('and AbortSignal.timeout is known by its name', () => {
    expect(verdict(new DOMException('too slow', 'TimeoutError'))).toBe('TIMEOUT');
  });
});

describe('our own classes decide', () => {
  it.each([
    ['NonRetryable', new NonRetryable('no'), 'NON_RETRYABLE'],
    [
      'NonRetryable over its cause',
      new NonRetryable('no', { cause: { status: 503 } }),
      'NON_RETRYABLE',
    ],
    ['RetryAfter', new RetryAfter(2_500), ['RATE_LIMITED', 2_500]],
    ['RetryAfter at once', new RetryAfter(0), ['RATE_LIMITED', 0]],
    ['RetryAfter without a number', new RetryAfter(Number.NaN), 'RATE_LIMITED'],
    ['a wrapped RetryAfter', new Error('x', { cause: new RetryAfter(9) }), ['RATE_LIMITED', 9]],
  ])('%s', (_, thrown, expected) => expect(verdict(thrown)).toEqual(expected));
});

describe('causes and members are asked in turn', () => {
  const refused = failing({ code: 'ECONNREFUSED' }, 'connect ECONNREFUSED');
  const chain = (links: number) => {
    let error: Error = failing({ status: 401 }, 'innermost');
    for (let link = 0; link < links; link += 1) error = new Error(`link ${link}`, { cause: error });
    return error;
  };

  it.each([
    ["fetch's TypeError", new TypeError('fetch failed', { cause: refused }), 'NETWORK_ERROR'],
    ['an AggregateError', new AggregateError([new Error('x'), refused]), 'NETWORK_ERROR'],
    [
      'a nested AggregateError',
      new Error('x', { cause: new AggregateError([refused]) }),
      'NETWORK_ERROR',
    ],
    ['an outer link before an inner', failing({ status: 404, cause: refused }), 'NOT_FOUND'],
    ['five links', chain(5), 'AUTHENTICATION_FAILED'],
    ['six links are too far', chain(6), 'HANDLER_ERROR'],
    ['a plain throw', new Error('x'), 'HANDLER_ERROR'],
  ])('%s', (_, thrown, expected) => expect(verdict(thrown)).toEqual(expected));

  it('and the answer keeps the chain, each link with its own code', () => {
    const { error } = classify(new TypeError('fetch failed', { cause: refused }), NOW);
    expect(error).toMatchObject({
      code: 'NETWORK_ERROR',
      message: 'fetch failed',
      stack: expect.stringContaining('TypeError: fetch failed') as unknown,
      cause: { code: 'NETWORK_ERROR', message: 'connect ECONNREFUSED', cause: null },
    });
  });
});

describe('Retry-After is read', () => {
  const limited = (headers: unknown) => failing({ status: 429, headers });
  it.each([
    ['seconds in Headers', limited(new Headers({ 'Retry-After': '120' })), 120_000],
    ['a date in Headers', limited(new Headers({ 'retry-after': IN_A_MINUTE })), 60_000],
    ['seconds in an object', limited({ 'retry-after': '2' }), 2_000],
    ['a number, capitalised', limited({ 'Retry-After': 1.5 }), 1_500],
    ['the response', failing({ response: { status: 503, headers: { 'retry-after': 3 } } }), 3_000],
    ['a wrapped failure', new Error('x', { cause: limited({ 'retry-after': '4' }) }), 4_000],
  ])('from %s', (_, thrown, expected) => {
    expect(classify(thrown, NOW).retryAfterMs).toBe(expected);
  });

  it.each([
    ['0', 0],
    [' 7 ', 7_000],
    [IN_A_MINUTE, 60_000],
    ['2026-03-01T12:00:30Z', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['', null],
    ['-5', null],
    [-5, null],
    ['soon', null],
    ['in 5 minutes', null],
    [Number.NaN, null],
    [undefined, null],
    [['1'], null],
  ])('%j means %j ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });
});

test('a failure without a hint waits as its policy says', () => {
  const headers = {
    get: () => {
      throw new Error('no');
    },
  };
  expect(classify(failing({ status: 429, headers }), NOW).retryAfterMs).toBeNull();
});
