import { describe, expect, it, test, vi } from 'vitest';
import { atOnce, InexactNumber, parseInSteps } from './exact-json.ts';
import { type JsonLimits, JsonTooComplex, scanJson } from './json-scan.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const LIMITS: JsonLimits = { valuesMax: 10, depthMax: 3 };
const scan = (text: string, limits = LIMITS) => atOnce(scanJson(encode(text), limits));

test.each([
  ['few values', '[1,2,3,4,5,6,7,8]'],
  ['few levels', '[[[1]]]'],
  ['brackets and commas in a text', `["${'[,{,'.repeat(1_000)}"]`],
  ['an escaped quote in a text', '["\\"[[[[[[[[,,,,,,,,,,,,,,", 1]'],
])('%s pass', (_, text) => expect(() => scan(text)).not.toThrow());

test.each([
  ['too many in a list', '[1,2,3,4,5,6,7,8,9,10]', 'it has more than 10 values'],
  ['too many in all', `[${'{},'.repeat(8)}{}]`, 'it has more than 10 values'],
  ['too deep', '[[[[', 'it nests deeper than 3 levels'],
])('%s are refused', (_, text, words) => {
  expect(() => scan(text)).toThrow(new JsonTooComplex(words));
});

test('a bomb is refused before a byte of it is decoded or parsed', () => {
  const parse = vi.spyOn(JSON, 'parse');
  const bomb = encode(`{"jobs":[${'{},'.repeat(1_000)}{}]}`);
  const never = () => expect.unreachable('it was decoded');
  expect(() => atOnce(parseInSteps(bomb, LIMITS, never))).toThrow(JsonTooComplex);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

describe('a number of sixteen digits', () => {
  it('costs no second parse and no reviver', () => {
    const parse = vi.spyOn(JSON, 'parse');
    const text = `{"id":1000000000000000,"list":[${'1,'.repeat(50)}1]}`;
    const limits = { valuesMax: 1_000, depthMax: 3 };
    atOnce(parseInSteps(encode(text), limits, decode));
    expect(parse.mock.calls).toEqual([[text]]);
    parse.mockRestore();
  });

  it('is found outside of texts only, and without its length to matter', () => {
    expect(scan('{"a":"1234567890123456789"}').inexact).toBeNull();
    expect(scan('[-9007199254740993]').inexact).toBe('-9007199254740993');
    expect(scan(`[${'9'.repeat(1_000_000)}]`).inexact).toBeNull();
    expect(scan('[0.12345678901234567890,12345678901234567890e1]').inexact).toBeNull();
  });
});

describe('a long list', () => {
  const limits = { valuesMax: 1_000_000, depthMax: 10 };
  const long = (head: string, tail: string, item = '{"a":"x,]}\\""}') =>
    `${head}[${`${item} ,\n`.repeat(30_000)}${item}]${tail}`;
  const steps = (text: string) => parseInSteps(encode(text), limits, decode);

  test.each([
    ['in an object', long('{"b":1,"jobs":', ',"c":[1,2]}')],
    ['in a list', long('[0,1,', ',[2]]')],
    ['under a name that comes again', long('{"jobs":', ',"jobs":0}')],
    ['beside what reads like its mark', long('{"a":0,"b":1,"jobs":', ',"c":"0"}')],
    ['under an odd name', long('{"__proto__":', '}')],
    ['of lists', long('{"jobs":', '}', '[1,[2]]')],
  ])('%s is read as the parser reads it', (_, text) => {
    const read = atOnce(steps(text));
    expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test.each([
    ['closed by another bracket', long('{"jobs":', '}').replace(/\]\}$/, '}}')],
    ['with a comma at its end', long('{"jobs":', '}').replace(/\]\}$/, ',]}')],
    ['with a wrong entry', long('{"jobs":', '}').replace(/\]\}$/, ',{]]}')],
    ['with something behind it', long('{"jobs":', '}}')],
  ])('%s is no JSON', (_, text) => expect(() => atOnce(steps(text))).toThrow(SyntaxError));

  it('can be interrupted on the way', () => {
    let yields = 0;
    const text = long('{"jobs":', '}');
    const all = steps(text);
    while (!all.next().done) yields += 1;
    expect(yields).toBeGreaterThan(text.length / 131_072);
  });

  it('is refused for a number in it that would be rounded', () => {
    const text = long('{"jobs":', '}').replace('"x,]}\\""', '1234567890123456789');
    expect(() => atOnce(steps(text))).toThrow(InexactNumber);
  });
});
