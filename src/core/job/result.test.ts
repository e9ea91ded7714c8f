import { describe, expect, it } from 'vitest';
import { RESULT_MAX_BYTES, resultJson } from './result.ts';

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;
const refuse = () => {
  throw new Error('a trap');
};

class Account {
  get owner() {
    return 'no one';
  }
}

describe('a result is kept as JSON', () => {
  it.each([
    ['undefined is null', undefined, 'null'],
    ['null', null, 'null'],
    ['false', false, 'false'],
    ['an empty string', '', '""'],
    ['zero', 0, '0'],
    ['an object, in its order', { b: 1, a: [true, 'x'] }, '{"b":1,"a":[true,"x"]}'],
    ['a Date, as it says itself', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['a value with toJSON', { toJSON: () => ({ x: 1 }) }, '{"x":1}'],
    ['a value whose toJSON has nothing to say', { toJSON: () => undefined }, 'null'],
    [
      'an instance with fields',
      new (class {
        a = 1;
      })(),
      '{"a":1}',
    ],
    ['an object without a prototype', Object.create(null), '{}'],
    ['an absent field is absent', { a: undefined, b: 1 }, '{"b":1}'],
    ['NUL and a lone surrogate', '\u0000\ud800', String.raw`"\u0000\ud800"`],
  ])('%s', (_, value, json) => expect(resultJson(value)).toEqual({ ok: true, json }));
});

describe('a result that JSON would change is refused', () => {
  it.each([
    ['a cycle', cyclic, /circular/i],
    ['a bigint', 1n, /the value is a bigint$/],
    ['a bigint inside', { size: 1n }, /"size" is a bigint$/],
    ['a function', () => 0, /the value is a function$/],
    ['a function inside', { run: () => 0 }, /"run" is a function$/],
    ['a symbol in a list', ['x', Symbol('s')], /"1" is a symbol$/],
    ['NaN', Number.NaN, /the value is NaN$/],
    ['Infinity inside', { ratio: Number.NEGATIVE_INFINITY }, /"ratio" is -Infinity$/],
    ['a promise without await', { user: Promise.resolve(1) }, /"user" is a Promise$/],
    ['a Map', { byId: new Map([[1, 2]]) }, /"byId" is a Map$/],
    ['a Set', [new Set([1])], /"0" is a Set$/],
    ['an Error', { why: new Error('x') }, /"why" is an Error$/],
    ['a Response', new Response('{}'), /the value is a Response$/],
    ['a generator that never ran', (async function* () {})(), /the value is an AsyncGenerator$/],
    ['an instance without fields', new Account(), /the value is an Account$/],
    [
      'a getter that throws',
      Object.defineProperty({}, 'x', { enumerable: true, get: refuse }),
      /a trap/,
    ],
    ['a toJSON that throws', { toJSON: refuse }, /a trap/],
  ])('%s', (_, value, reason) => {
    const message = expect.stringMatching(reason) as unknown;
    expect(resultJson(value)).toMatchObject({ ok: false, code: 'RESULT_INVALID', message });
  });

  it('and one that nests too deeply for JSON is refused, not fatal', () => {
    let deep: unknown = null;
    for (let level = 0; level < 1_000_000; level += 1) deep = [deep];
    expect(resultJson(deep)).toMatchObject({ ok: false, code: 'RESULT_INVALID' });
  });
});

describe('a mebibyte of UTF-8 is the limit', () => {
  const quotes = 2;
  it.each([
    ['a', RESULT_MAX_BYTES - quotes],
    ['é', (RESULT_MAX_BYTES - quotes) / 2],
  ])('of "%s"', (character, count) => {
    const fits = character.repeat(count);
    expect(resultJson(fits)).toMatchObject({ ok: true });
    const message = expect.stringMatching(/returned 10485\d\d bytes .* 1048576/) as unknown;
    const refused = { ok: false, code: 'RESULT_TOO_LARGE', message };
    expect(resultJson(`${fits}${character}`)).toMatchObject(refused);
  });
});
