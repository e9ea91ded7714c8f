import { expect, test } from 'vitest';
import { jsonDiff } from './json-diff.ts';

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [1, 2, [{ path: '', a: 1, b: 2 }]],
  [{ a: 1, b: { c: [1, 2] } }, { a: 1, b: { c: [1, 3] } }, [{ path: 'b.c[1]', a: 2, b: 3 }]],
  [{ a: null }, {}, [{ path: 'a', a: null, b: undefined }]],
  [{}, { 'x y': 1 }, [{ path: '["x y"]', a: undefined, b: 1 }]],
  [[1], { 0: 1 }, [{ path: '', a: [1], b: { 0: 1 } }]],
  [[], [[1]], [{ path: '[0]', a: undefined, b: [1] }]],
  [JSON.parse('{"__proto__":1}'), {}, [{ path: '__proto__', a: 1, b: undefined }]],
])('%j against %j', (a: unknown, b: unknown, differences) => {
  expect(jsonDiff(a, b)).toEqual({ differences, cut: false });
});

test('many differences are cut', () => {
  const list = (by: number) => Array.from({ length: 1_000 }, (_, n) => n * 2 + by);
  const { differences, cut } = jsonDiff(list(0), list(1));
  expect([differences.length, cut]).toEqual([200, true]);
});
