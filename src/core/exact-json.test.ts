import { expect, test } from 'vitest';
import { InexactNumber, parseExactly } from './exact-json.ts';

test.each([
  ['a short number', '{"id":123456789012345}', { id: 123456789012345 }],
  ['the largest that is exact', '9007199254740991', 9007199254740991],
  ['a larger one that happens to be exact', '[-10000000000000000]', [-10000000000000000]],
  ['one that JavaScript itself has written', '1763233253282000000', 1763233253282000000],
  ['one that it writes in another way', '1000000000000000000000', 1e21],
  ['a fraction, which everybody rounds', '0.12345678901234567890', 0.12345678901234568],
  ['digits in a text', '"12345678901234567890"', '12345678901234567890'],
  ['a key of digits', '{"12345678901234567890":1}', { '12345678901234567890': 1 }],
])('%s is read', (_, text, value) => expect(parseExactly(text)).toEqual(value));

test.each(['{"id":1234567890123456789}', '[[-9007199254740993]]', '12345678901234567890'])(
  '%s is refused, since it would be read as another number',
  (text) => expect(() => parseExactly(text)).toThrow(InexactNumber),
);

test('what is no JSON is told by the parser', () => {
  expect(() => parseExactly('{"id":1234567890123456789')).toThrow(SyntaxError);
});
