import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

it.each([
  ['{ "b": 1, "a": [ 1, 2 ] }', '{"a":[1,2],"b":1}'],
  ['{"2":0,"10":0,"a":0}', '{"10":0,"2":0,"a":0}'],
  ['{"__proto__":1,"A":2}', '{"A":2,"__proto__":1}'],
  ['[1.0,1e2,-0,0.1]', '[1,100,0,0.1]'],
  ['"\\u00e9\\n"', '"é\\n"'],
  ['null', 'null'],
])('%s is %s', (text, canonical) => {
  expect(canonicalJson(JSON.parse(text))).toBe(canonical);
});

it('leaves out what JSON leaves out', () => {
  expect(canonicalJson({ b: undefined, a: [undefined] })).toBe('{"a":[null]}');
});
