import { describe, expect, it } from 'vitest';
import { isReservedStep, isServerStep } from '../job/signal.ts';
import { askedText, childBody, unsuccessfulChildren, waitChildrenStep } from './children.ts';

describe('the body of a child', () => {
  it('has the fields of a request, without undefined ones', () => {
    const runAt = new Date('2030-01-01');
    const options = { name: 'first', priority: 2, tags: undefined, runAt };
    const definition = { key: 'k', version: 3 };
    expect(childBody({ definition, params: { a: 1 }, options })).toEqual({
      name: 'first',
      job: {
        definitionKey: 'k',
        definitionVersion: 3,
        params: { a: 1 },
        priority: 2,
        runAt: '2030-01-01T00:00:00.000Z',
      },
    });
    expect(childBody({ definition: 'k' })).toEqual({ name: null, job: { definitionKey: 'k' } });
  });

  it.each([
    [{ prioritty: 1 }, 'unknown option of spawn "prioritty": did you mean "priority"?'],
    [{ name: '' }, 'the name of a child is'],
    [{ name: '#1' }, 'the name of a child is'],
    [{ name: 'x'.repeat(101) }, 'the name of a child is'],
    [{ name: 'a\u0000' }, 'the name of a child is'],
  ])('%j is refused', (options, message) => {
    expect(() => childBody({ definition: 'k', options: options as object })).toThrow(message);
  });
});

it('the order of keys makes no other child, and missing params are an empty object', () => {
  expect(askedText('k', { a: 1, b: { c: 2, d: 3 } })).toBe(
    askedText('k', { b: { d: 3, c: 2 }, a: 1 }),
  );
  expect(askedText('k', undefined)).toBe(askedText('k', {}));
  expect(askedText('k', [1, 2])).not.toBe(askedText('k', [2, 1]));
});

it('steps of children cannot be stored by the code of a job', () => {
  const names = ['children:', waitChildrenStep(1)];
  expect(names.map(isReservedStep)).toEqual([true, true]);
  expect(names.map(isServerStep)).toEqual([true, false]);
});

it('says how many children did not succeed, and the first of them', () => {
  const good = { id: 'a', state: 'succeeded', result: 1, error: null } as const;
  const error = { code: 'TIMEOUT', message: '', stack: null, cause: null };
  const bad = { id: 'b', state: 'failed', result: null, error } as const;
  expect(unsuccessfulChildren([good])).toBeNull();
  expect(unsuccessfulChildren([good, bad, { ...bad, id: 'c' }])).toBe(
    '2 of 3 children did not succeed: the first, b, failed (TIMEOUT)',
  );
});
