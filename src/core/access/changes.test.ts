import { expect, test } from 'vitest';
import { changesOf } from './changes.ts';

test('lists the fields that differ, and of params only that they changed', () => {
  const before = { cron: '@daily', enabled: true, endAt: new Date(0), paramsJson: '{"pin":1}' };
  const after = { ...before, enabled: false, endAt: new Date(0), paramsJson: '{"pin":2}' };
  expect(changesOf(before, after)).toEqual({
    before: { enabled: true },
    after: { enabled: false, params: 'changed' },
  });
  expect(changesOf(before, { ...before })).toEqual({ before: {}, after: {} });
  // Also of something new, and of fields that only one of them has.
  expect(changesOf({}, { cron: '@daily', paramsJson: '{"pin":1}' })).toEqual({
    before: {},
    after: { cron: '@daily', params: 'changed' },
  });
  expect(changesOf({ a: 1 }, { url: 'replaced' })).toEqual({
    before: { a: 1 },
    after: { url: 'replaced' },
  });
});
