import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { checkParams, escapePointer, PARAMS_MAX_BYTES, utf8Length } from './params.ts';

const invalid = (pointer: string, detail: unknown) => ({
  ok: false,
  code: 'PAYLOAD_INVALID',
  pointer,
  detail,
});
const object = (keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 0]));

function nested(levels: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}
const inArray = (inner: unknown) => [inner];
const inObject = (inner: unknown) => ({ a: inner });

describe('any JSON is allowed', () => {
  it.each([
    ['null', null],
    ['a boolean', false],
    ['a number', -1.5e300],
    ['a string', 'x'],
    ['an empty object', {}],
    ['an empty array', []],
    ['NUL and a lone surrogate', ['\u0000', '\ud800', { '\u0000': 1 }]],
    ['a key that is empty, or looks like a method', { '': 1, constructor: 2, toString: 3 }],
  ])('%s', (_, params) => {
    expect(checkParams(params)).toEqual({ ok: true, json: JSON.stringify(params) });
  });

  it('and reads back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (params) => {
        const checked = checkParams(params);
        // A generated __proto__ key is refused by design; everything else must come through.
        if (checked.ok)
          expect(JSON.parse(checked.json)).toEqual(JSON.parse(JSON.stringify(params)));
        else expect(checked.pointer).toContain('__proto__');
      }),
    );
  });
});

describe('131,072 bytes of UTF-8 are the limit', () => {
  const quotes = 2;
  it.each([
    ['one byte each', 'a', PARAMS_MAX_BYTES - quotes],
    ['two bytes each', 'é', (PARAMS_MAX_BYTES - quotes) / 2],
    ['three bytes each', '€', (PARAMS_MAX_BYTES - quotes) / 3],
    ['four bytes each', '😀', Math.floor((PARAMS_MAX_BYTES - quotes) / 4)],
    ['escaped to six bytes each', '\u0001', (PARAMS_MAX_BYTES - quotes) / 6],
    ['lone surrogates, escaped too', '\udc00', (PARAMS_MAX_BYTES - quotes) / 6],
  ])('of characters with %s', (_, character, count) => {
    expect(Number.isInteger(count)).toBe(true);
    const fits = character.repeat(count);
    expect(checkParams(fits)).toMatchObject({ ok: true });
    expect(checkParams(`${fits}${character}`)).toMatchObject({
      ok: false,
      code: 'PAYLOAD_TOO_LARGE',
      pointer: '',
    });
  });

  it('and an array of that many items is refused without a look at each', () => {
    expect(checkParams(Array.from({ length: 65_535 }, () => 0))).toMatchObject({ ok: true });
    for (const length of [65_536, 65_537]) {
      const refused = { ok: false, code: 'PAYLOAD_TOO_LARGE' };
      expect(checkParams(Array.from({ length }, () => 0))).toMatchObject(refused);
    }
  });

  it('and the refusal names both sizes', () => {
    const detail = expect.stringMatching(/ 131073 bytes .* 131072/) as unknown;
    expect(checkParams('a'.repeat(PARAMS_MAX_BYTES - 1))).toMatchObject({ detail });
  });
});

describe('10 levels are the limit, and the root container is the first', () => {
  it.each([
    ['arrays', inArray, '/0'],
    ['objects', inObject, '/a'],
  ])('of %s', (_, wrap, step) => {
    expect(checkParams(nested(10, wrap, 'leaf'))).toMatchObject({ ok: true });
    const detail = 'params nest deeper than 10 levels';
    expect(checkParams(nested(11, wrap, 'leaf'))).toEqual(invalid(step.repeat(10), detail));
  });

  it.each([
    ['arrays', inArray],
    ['objects', inObject],
  ])('and 100,000 levels of %s are answered without a stack overflow', (_, wrap) => {
    expect(checkParams(nested(100_000, wrap, null))).toMatchObject({ code: 'PAYLOAD_INVALID' });
  });

  it('also when they hide behind an array that is too long to be looked at', () => {
    const deep = nested(100_000, inArray, null);
    const params = { list: [...Array.from({ length: 70_000 }, () => 0), deep] };
    expect(checkParams(params)).toMatchObject({
      ok: false,
      code: 'PAYLOAD_TOO_LARGE',
      pointer: '',
    });
  });

  it('and a cycle is as deep as it gets', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(checkParams(cycle)).toMatchObject({ code: 'PAYLOAD_INVALID' });
  });
});

describe('500 keys summed over all objects are the limit', () => {
  const detail = 'params have more than 500 keys in all';
  it.each([
    ['in one object', object(500), object(501), ''],
    ['over several', [object(250), object(250)], [object(251), object(250)], '/1'],
    ['over nested ones', { a: object(499) }, { a: object(500) }, '/a'],
  ])('%s', (_, fits, breach, pointer) => {
    expect(checkParams(fits)).toMatchObject({ ok: true });
    expect(checkParams(breach)).toEqual(invalid(pointer, detail));
  });

  it('and items of arrays are not counted', () => {
    expect(checkParams(Array.from({ length: 5_000 }, () => 0))).toMatchObject({ ok: true });
  });
});

test('a field that is undefined is not there', () => {
  expect(checkParams({ a: undefined, b: 1 })).toEqual({ ok: true, json: '{"b":1}' });
  expect(checkParams({ at: new Date(0) })).toMatchObject({ ok: true });
});

test.each([
  ['NaN', { a: Number.NaN }, '/a', 'a number is too large for JSON'],
  ['Infinity', [0, [Number.POSITIVE_INFINITY]], '/1/0', 'a number is too large for JSON'],
  ['undefined', undefined, '', 'a value of type undefined is not JSON'],
  ['undefined in a list', [undefined], '/0', 'a value of type undefined is not JSON'],
  ['a Map', { a: new Map() }, '/a', 'a Map is not JSON'],
  ['a promise', [Promise.resolve()], '/0', 'a Promise is not JSON'],
  ['a bigint', { a: 1n }, '/a', 'a value of type bigint is not JSON'],
  ['a function', [() => 0], '/0', 'a value of type function is not JSON'],
  ['a symbol', [Symbol('s')], '/0', 'a value of type symbol is not JSON'],
  ['__proto__', JSON.parse('{"a":{"__proto__":1}}'), '/a/__proto__', /__proto__ is not allowed/],
  ['an escaped pointer', { 'a/b': { '~c': 1n } }, '/a~1b/~0c', /bigint/],
])('%s is refused, and the pointer says where', (_, params, pointer, detail) => {
  const words = detail instanceof RegExp ? expect.stringMatching(detail) : detail;
  expect(checkParams(params)).toEqual(invalid(pointer, words));
});

test.each([
  ['a', 'a'],
  ['a/b', 'a~1b'],
  ['a~b', 'a~0b'],
  ['~1', '~01'],
  ['~/~', '~0~1~0'],
  ['', ''],
])('in a pointer the key "%s" is "%s"', (key, escaped) => {
  expect(escapePointer(key)).toBe(escaped);
});

test('a UTF-8 length never passes for short enough when it is not', () => {
  const unit = fc.constantFrom('a', 'é', '€', '😀', '\ud800', '\udc00');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(200), (text, enough) => {
      const exact = new TextEncoder().encode(text).length;
      expect(utf8Length(text, enough) > enough).toBe(exact > enough);
    }),
  );
});
