import { expect, test } from 'vitest';
import { isEnvelopeText } from '../access/sealed.ts';
import { checkParams } from '../job/params.ts';
import {
  isLargeName,
  isLargeText,
  largeName,
  largeNote,
  largeRefOf,
  largeText,
  mayHoldLarge,
} from './large-value.ts';

const ID = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
const OF = { tenant: 'acme', jobId: ID, kind: 'params' } as const;
const NAME = largeName(OF, 'ab'.repeat(32));
const TEXT = largeText({ name: NAME, bytes: 200_000 });

test('a reference is an envelope that says where the value is', () => {
  expect(TEXT).toBe(`{"$sealed":"@200000.value.acme.${ID}.params.${'ab'.repeat(32)}"}`);
  expect([isEnvelopeText(TEXT), isLargeText(TEXT), mayHoldLarge(TEXT)]).toEqual([true, true, true]);
  expect(largeRefOf(JSON.parse(TEXT))).toEqual({ ...OF, name: NAME, bytes: 200_000 });
  expect(largeNote({ bytes: 7 })).toBe('[large value: 7 bytes]');
});

test.each([
  ['an envelope', '{"$sealed":"k.abcdefghijklmnop.abcdefghijklmnopqrstuvwx"}'],
  ['a path', `{"$sealed":"@1.value.acme/../b.${ID}.params.${'ab'.repeat(32)}"}`],
  ['an archive', `{"$sealed":"@1.${'ab'.repeat(32)}"}`],
  ['text before it', TEXT.replace('@', 'x@')],
  ['no hash', TEXT.slice(0, -10).concat('"}')],
])('%s is no reference', (_, json) => {
  expect(largeRefOf(JSON.parse(json))).toBeNull();
});

test('only our own names are names in the storage', () => {
  expect(isLargeName(NAME)).toBe(true);
  for (const name of [`../${NAME}`, NAME.toUpperCase(), NAME.replace('params', 'steps')]) {
    expect(isLargeName(name)).toBe(false);
  }
});

test('a caller cannot write a reference, and other objects are data', () => {
  expect(checkParams(JSON.parse(TEXT))).toMatchObject({ ok: false, code: 'PAYLOAD_INVALID' });
  expect(checkParams({ a: { b: [JSON.parse(TEXT)] } })).toMatchObject({ ok: false });
  const alike = { large: NAME, bytes: 200_000 };
  expect(checkParams(alike)).toEqual({ ok: true, json: JSON.stringify(alike) });
  expect(largeRefOf(alike)).toBeNull();
});
