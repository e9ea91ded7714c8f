import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { classify } from './classify.ts';

const messageOf = (thrown: unknown) => classify(thrown, 0).error.message;
const refuse = () => {
  throw new Error('a trap');
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

test.each([
  ['a string', 'out of paper', 'out of paper'],
  ['an empty string', '', 'an empty string was thrown'],
  ['undefined', undefined, 'the job threw undefined'],
  ['null', null, 'the job threw null'],
  ['a number', 42, '42'],
  ['NaN', Number.NaN, 'NaN'],
  ['a bigint', 7n, '7'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['a boolean', false, 'false'],
  ['an object', { reason: 'x' }, '{"reason":"x"}'],
  ['an object with a message', { message: 'x' }, 'x'],
  ['an error without a message', new RangeError(''), 'RangeError'],
  ['an object that is no JSON', { size: 1n }, '[object Object]'],
  ['an object without a prototype', Object.assign(Object.create(null), { n: 1n }), 'unknown error'],
])('describes %s that was thrown', (_, thrown, message) => {
  const { error, retryAfterMs } = classify(thrown, 0);
  expect(error).toMatchObject({ code: 'HANDLER_ERROR', message, cause: null });
  expect(retryAfterMs).toBeNull();
});

const traps: ProxyHandler<object> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
};
const getters = Object.defineProperties(
  {},
  Object.fromEntries(
    ['message', 'name', 'stack', 'cause', 'errors', 'code', 'status', 'headers', 'longshore'].map(
      (name) => [name, { get: refuse, enumerable: true }],
    ),
  ),
);
const cyclic = new Error('outer');
cyclic.cause = new Error('inner', { cause: cyclic });
const ownMember = new AggregateError([], 'contains itself');
ownMember.errors = Array.from({ length: 10 }, () => ownMember);

describe('no value can make it throw', () => {
  it.each([
    ['getters that throw', getters],
    ['a proxy whose every trap throws', new Proxy({}, traps)],
    ['a proxy of an error', new Proxy(new Error('x'), traps)],
    ['a revoked proxy', revoked({})],
    ['a revoked proxy as its members', { errors: revoked([]) }],
    ['members whose slice throws', { errors: new Proxy([1], { get: refuse }) }],
    ['a revoked proxy as its cause', { cause: revoked({}) }],
    ['a revoked proxy as its headers', { status: 429, headers: revoked({}) }],
    ['toJSON and toString that throw', { toJSON: refuse, toString: refuse }],
    ['a cyclic cause', cyclic],
    ['an aggregate of itself', ownMember],
  ])('%s', (_, thrown) => {
    const { error } = classify(thrown, 0);
    expect(typeof error.message).toBe('string');
    expect(error.message).not.toBe('');
    expect(() => JSON.stringify(error)).not.toThrow();
  });

  it('whatever it is made of', () => {
    const names = fc.constantFrom(
      'message',
      'cause',
      'errors',
      'status',
      'code',
      'headers',
      'name',
    );
    const things = fc.dictionary(names, fc.anything({ withBigInt: true, withNullPrototype: true }));
    fc.assert(
      fc.property(fc.oneof(things, fc.anything({ withBigInt: true })), (thrown) => {
        expect(() => classify(thrown, 0)).not.toThrow();
      }),
    );
  });
});

describe('what is kept is text that PostgreSQL takes', () => {
  it.each([
    ['a NUL', 'a\u0000b', 'a\uFFFDb'],
    ['a lone high surrogate', 'a\ud800b', 'a\uFFFDb'],
    ['a lone low surrogate', '\udc00', '\uFFFD'],
    ['a whole pair', '😀', '😀'],
  ])('with %s', (_, message, kept) => {
    const error = new Error(message, { cause: message });
    error.stack = message;
    expect(classify(error, 0).error).toMatchObject({
      message: kept,
      stack: kept,
      cause: { message: kept },
    });
  });

  it.each([
    ['is kept whole at its limit', 4_000, 4_000],
    ['is cut above it', 4_001, 4_000 + '… (truncated)'.length],
  ])('a message %s', (_, length, kept) => {
    expect(messageOf(new Error('x'.repeat(length)))).toHaveLength(kept);
  });

  it('a cut never leaves half a character', () => {
    const message = messageOf(`${'x'.repeat(3_999)}😀`);
    expect(message.isWellFormed()).toBe(true);
    expect(message).toBe(`${'x'.repeat(3_999)}\uFFFD… (truncated)`);
  });

  it('a stack is cut as well, and a chain of causes ends', () => {
    let error: Error = new Error('0');
    for (let depth = 1; depth <= 20; depth += 1) error = new Error(`${depth}`, { cause: error });
    error.stack = 's'.repeat(20_000);
    const kept = classify(error, 0).error;
    expect(kept.stack).toHaveLength(16_000 + '… (truncated)'.length);
    let links = 0;
    for (let link = kept.cause; link; link = link.cause) links += 1;
    expect(links).toBe(5);
  });
});
