import { expect, it, test } from 'vitest';
import { unknownDefinition, unknownWords } from './unknown-definition.ts';

const known = {
  definitions: [{ key: 'report.build' }, { key: 'mail.send' }],
  workers: [{ definitions: ['edge.sync@3'] }],
};

test.each([
  ['a published definition', 'report.build', null],
  ['a definition that only a worker has', 'edge.sync', null],
  ['a system job', '$webhook', null],
  ['a mistyped name', 'report.bild', { nearest: 'report.build' }],
  ['a name near to none', 'zzz', { nearest: null }],
])('%s', (_, key, expected) => {
  expect(unknownDefinition(key, known)).toEqual(expected);
});

it('names the nearest definition', () => {
  expect(unknownWords('report.bild', { nearest: 'report.build' })).toBe(
    'No worker has registered “report.bild”: did you mean “report.build”?',
  );
  expect(unknownWords('zzz', { nearest: null })).toBe('No worker has registered “zzz”.');
});
