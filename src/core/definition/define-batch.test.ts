import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type BatchItem, defineBatchJob, isItemFailure, ItemFailure } from './define-batch.ts';
import type { JobDefinition } from './define.ts';
import { groupProblem } from './group.ts';

const run = () => [];

test('publishes its size and how long it waits', () => {
  expect(defineBatchJob({ key: 'a', size: 50, waitMs: 0, run }).info.group).toEqual({
    size: 50,
    waitMs: 0,
  });
  expect(defineBatchJob({ key: 'a', size: 1, run }).info.group).toEqual({ size: 1, waitMs: 100 });
});

test('types of items come from the schema, those of the result from the list', () => {
  const job = defineBatchJob({
    key: 'typed',
    size: 10,
    params: z.object({ at: z.string().transform((text) => new Date(text)) }),
    run(items) {
      expectTypeOf(items).toEqualTypeOf<readonly BatchItem<{ at: Date }>[]>();
      return items.map((item) => (item.attempt > 1 ? item.fail('no') : { ok: true }));
    },
  });
  expectTypeOf(job).toEqualTypeOf<JobDefinition<{ at: string }, { ok: boolean }>>();
});

test.each([
  [{ size: 0 }, 'a: size must be a whole number from 1 to 1000'],
  [{ size: 1_001 }, 'a: size must be a whole number from 1 to 1000'],
  [{}, 'a: size must be a whole number from 1 to 1000'],
  [{ size: 2, waitMs: 60_001 }, 'a: waitMs must be a whole number from 0 to 60000'],
  [{ size: 2, waitMs: '1' }, 'a: waitMs must be a whole number from 0 to 60000'],
  [{ size: 2, wait: 1 }, 'unknown option of defineBatchJob "wait": did you mean "waitMs"?'],
  [{ size: 2, onStart: run }, 'unknown option of defineBatchJob "onStart"'],
  [{ size: 2, run: 1 }, 'a: run must be a function'],
])('refuses %j', (options, message) => {
  expect(() => defineBatchJob({ key: 'a', run, ...options } as never)).toThrow(message);
});

test('a failure is known by its mark, also across copies of this module', () => {
  expect(isItemFailure(new ItemFailure(1))).toBe(true);
  expect(isItemFailure({ longshore: 'item-failure', error: 1 })).toBe(true);
  for (const other of [null, 1, {}, { longshore: 'snooze' }]) {
    expect(isItemFailure(other)).toBe(false);
  }
});

test('a group that is larger than its worker is a problem, with what to set', () => {
  expect(groupProblem({ size: 100 }, 8)).toBe(
    'size is 100, this worker has 8 slots: groups have at most 8 jobs; set --concurrency 100',
  );
  expect(groupProblem({ size: 2 }, 1, 'the largest worker')).toBe(
    'size is 2, the largest worker has 1 slot: groups have at most 1 job; set --concurrency 2',
  );
});

test('a group that fits, and a job without one, are none', () => {
  expect(groupProblem({ size: 8 }, 8)).toBeNull();
  expect(groupProblem(null, 1)).toBeNull();
});
