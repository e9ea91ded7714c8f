import { expect, test } from 'vitest';
import { resultFacts } from './result-fact.ts';

test('a receipt becomes facts', () => {
  const receipt = {
    deliveryId: '0199',
    at: '2026-11-16T12:00:00.000Z',
    durationMs: 1_234,
    status: 204,
    response: null,
    again: false,
    archives: [],
  };
  expect(resultFacts(receipt)).toEqual([
    { name: 'Delivery id', text: '0199' },
    { name: 'At', moment: '2026-11-16T12:00:00.000Z' },
    { name: 'Duration', text: '1.2 s' },
    { name: 'Status', text: '204' },
    { name: 'Again', text: 'no' },
  ]);
});

test('objects and lists inside are facts as well, up to three levels', () => {
  const receipts = [{ to: 'a@b.c' }, { to: 'd@e.f' }];
  expect(resultFacts({ receipts, only: ['x'], rules: { 'old.rows': {} } })).toEqual([
    {
      name: 'Receipts',
      facts: [
        { name: '1', facts: [{ name: 'To', text: 'a@b.c' }] },
        { name: '2', facts: [{ name: 'To', text: 'd@e.f' }] },
      ],
    },
    { name: 'Only', text: 'x' },
    { name: 'Rules', facts: [{ name: 'old.rows', json: {} }] },
  ]);
  expect(resultFacts({ a: { b: { c: { d: 1 } } } })).toEqual([
    { name: 'A', facts: [{ name: 'B', facts: [{ name: 'C', json: { d: 1 } }] }] },
  ]);
});

test.each([null, 'text', 7, {}, [], { only: null }, Array.from({ length: 41 }, (_, n) => n)])(
  '%j stays JSON',
  (result) => expect(resultFacts(result)).toBeNull(),
);
