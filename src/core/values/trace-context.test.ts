import { expect, test } from 'vitest';
import { traceContextOf, traceIdOf, traceparentFrom, traceparentOf } from './trace-context.ts';

const ONE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const TWO = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';

test.each<[string | string[] | undefined, string | null]>([
  [undefined, null],
  ['', null],
  [ONE, ONE],
  [` ${ONE} `, ONE],
  [`${ONE}, ${TWO}`, TWO],
  [[ONE, 'x'], ONE],
  [ONE.toUpperCase(), null],
  [`ff${ONE.slice(2)}`, null],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', null],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', null],
  [`${ONE}-more`, null],
  ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'}", null],
])('%j is %j', (header, expected) => expect(traceparentOf(header)).toBe(expected));

test('is the same after being taken apart', () => {
  const taken = traceContextOf(ONE);
  expect(taken).toEqual({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: 1,
  });
  expect(traceparentFrom(taken)).toBe(ONE);
  expect(traceIdOf(ONE)).toBe(taken.traceId);
  expect(traceIdOf(null)).toBeUndefined();
});
