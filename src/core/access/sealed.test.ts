import { expect, it } from 'vitest';
import { checkParams } from '../job/params.ts';
import { contentOf, namesSealed, replaceEnvelopes } from './sealed.ts';

it('replaces envelopes at the top and in fields, and leaves all else as it is', () => {
  const open = (content: string) => `opened ${content}`;
  expect(replaceEnvelopes({ $sealed: 'x' }, open)).toBe('opened x');
  const mixed = { params: { $sealed: 'p' }, result: { $sealed: 'r' }, status: 'succeeded' };
  expect(replaceEnvelopes(mixed, open)).toEqual({
    params: 'opened p',
    result: 'opened r',
    status: 'succeeded',
  });
  for (const value of [null, 1, '$sealed', ['$sealed'], { a: { b: { $sealed: 'deep' } } }]) {
    expect(replaceEnvelopes(value, open)).toBe(value);
  }
  expect(contentOf(Object.create({ $sealed: 'inherited' }))).toBe(null);
});

it.each([
  ['{"a":1,"b":"$sealed"}', false],
  ['["\\u0024 is a dollar"]', false],
  ['{"$sealed":"x"}', true],
  ['[{"a":[{"$sealed":1}]}]', true],
  ['{"\\u0024sealed":"x"}', true],
  [`${'['.repeat(5_000)}{"$sealed":0}${']'.repeat(5_000)}`, true],
])('finds the reserved name, however it is spelt (%#)', (json, expected) => {
  expect(namesSealed(json)).toBe(expected);
});

it('is refused in params, wherever it stands', () => {
  expect(checkParams({ list: [{ $sealed: 'k.a.b' }] })).toMatchObject({
    ok: false,
    code: 'PAYLOAD_INVALID',
    pointer: '/list/0/$sealed',
  });
  expect(checkParams({ sealed: '$sealed' })).toMatchObject({ ok: true });
});
