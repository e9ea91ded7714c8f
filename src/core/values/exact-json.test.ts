import { expect, test } from 'vitest';
import { atOnce, InexactNumber, parseExactly, parseInSteps } from './exact-json.ts';

test.each([
  ['a short number', '{"id":123456789012345}', { id: 123456789012345 }],
  ['the largest that is exact', '9007199254740991', 9007199254740991],
  ['a larger one that happens to be exact', '[-10000000000000000]', [-10000000000000000]],
  ['one that JavaScript itself has written', '1763233253282000000', 1763233253282000000],
  ['one that it writes in another way', '1000000000000000000000', 1e21],
  ['a fraction, which is rounded', '0.12345678901234567890', 0.12345678901234568],
  ['digits in a text', '"12345678901234567890"', '12345678901234567890'],
  ['a key of digits', '{"12345678901234567890":1}', { '12345678901234567890': 1 }],
])('%s is read', (_, text, value) => expect(parseExactly(text)).toEqual(value));

test.each(['{"id":1234567890123456789}', '[[-9007199254740993]]', '12345678901234567890'])(
  '%s is refused, since it would be read as another number',
  (text) => expect(() => parseExactly(text)).toThrow(InexactNumber),
);

test('invalid JSON gets the error of the parser', () => {
  expect(() => parseExactly('{"id":1234567890123456789')).toThrow(SyntaxError);
});

const LONG = Array<string>(120)
  .fill(JSON.stringify({ text: 'z'.repeat(3_000) }))
  .join(',');

test.each([
  `{"jobs":[${LONG}],"more":0}`,
  `{"jobs":[${LONG}],"jobs":[1]}`,
  `{"__proto__":[${LONG}]}`,
  `{"jobs":-[${LONG}]}`,
  `{"jobs":1[${LONG}]}`,
  `{"jobs":[${LONG}].5}`,
  `{"jobs":[${LONG}]e5}`,
  `{"jobs":[${LONG},]}`,
  `{"jobs":[,${LONG}]}`,
  `{"jobs":[\uFEFF${LONG}]}`,
])('a long list is read in parts as it would be at once: %#', (text) => {
  const limits = { valuesMax: Infinity, depthMax: Infinity };
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const inSteps = () => atOnce(parseInSteps(new TextEncoder().encode(text), limits, decode));
  const atOnceText = errorOf(() => JSON.parse(text) as unknown);
  expect(errorOf(inSteps)).toBe(atOnceText);
});

function errorOf(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return String(error instanceof SyntaxError);
  }
}
