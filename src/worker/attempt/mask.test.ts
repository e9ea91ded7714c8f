import { expect, it } from 'vitest';
import { Mask } from './mask.ts';

const mask = new Mask(
  ['card.number'],
  '{"apiKey":"key-123456","card":{"number":4111111111111111},"pin":"77","user":"ada lovelace"}',
);

it('masks the secrets of the params wherever they are repeated', () => {
  expect(mask.text('GET /?key=key-123456 by ada lovelace, 77')).toBe(
    'GET /?key=[redacted] by ada lovelace, 77',
  );
  const inner = { code: 'X', message: 'card 4111111111111111', stack: null, cause: null };
  const outer = { code: 'Y', message: 'key-123456', stack: 'at key-123456', cause: inner };
  expect(mask.error(outer)).toEqual({
    code: 'Y',
    message: '[redacted]',
    stack: 'at [redacted]',
    cause: { ...inner, message: 'card [redacted]' },
  });
});

it('masks JSON by value and leaves it JSON', () => {
  const said = '{"n": 4111111111111111, "apiKey":"another-one"}';
  expect(JSON.parse(mask.json(said))).toEqual({ n: '[redacted]', apiKey: 'another-one' });
  expect(mask.json('{"key-123456":1,"n":4111}')).toBe('{"[redacted]":1,"n":4111}');
  expect(mask.json('{"given":["key-123456"]}')).toBe('{"given":["[redacted]"]}');
});

it('masks the secrets that the job was given, and only these in its result', () => {
  const given = new Mask([], '{"apiKey":"key-123456"}', {
    TOKEN: 'given-1',
    PIN: '77',
    PEM: 'a"b\ncdef',
  });
  expect(given.text('key-123456 given-1 77 a\\"b\\ncdef')).toBe(
    '[redacted] [redacted] 77 [redacted]',
  );
  expect(given.result('{"a":"given-1 key-123456","b":77}')).toBe(
    '{"a":"[redacted] key-123456","b":77}',
  );
  expect(given.result('12345678901234567890')).toBe('12345678901234567890');
  expect(new Mask([], 'null').result('"given-1"')).toBe('"given-1"');
});
