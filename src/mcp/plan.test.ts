import { expect, test } from 'vitest';
import type { Scope } from '../core/access/scope.ts';
import { allowedTools, isOffered, type Plan, writesProblem } from './plan.ts';
import { TOOLS } from './tools/all.ts';

const plan = (changes: Partial<Plan> = {}): Plan => ({
  writes: 'none',
  offers: [],
  waitMs: 1_000,
  ...changes,
});
const names = (writes: Plan['writes'], ...scopes: Scope[]) =>
  allowedTools(TOOLS, plan({ writes }), scopes).map(({ name }) => name);
const readers = TOOLS.filter(({ effect }) => effect === 'reads').map(({ name }) => name);

test('a tool needs the plan and the key', () => {
  expect(names('none', 'admin')).toEqual(readers);
  expect(names('all', 'jobs:read')).toEqual(readers);
  expect(names('all', 'admin')).toEqual(TOOLS.map(({ name }) => name));
  expect(names('all', 'jobs:write')).toEqual([
    'retry_job',
    'retry_failures',
    'cancel_job',
    'signal_job',
    'enqueue_job',
  ]);
  expect(names(['cancel_job'], 'jobs:read', 'jobs:write')).toEqual([...readers, 'cancel_job']);
  expect(names('all', 'worker')).toEqual([]);
});

test('no tool that changes something passes for a reader', () => {
  expect(
    readers.filter((name) => !/^(list|find|explain|overview|job_log|definition_log)/.test(name)),
  ).toEqual([]);
});

test.each([
  [['report.*'], 'report.total', ['jobs:write'], true],
  [['report.*'], 'orders', ['jobs:write'], false],
  [['report.*'], 'report.total', ['jobs:read'], false],
  [[], 'report.total', ['admin'], false],
] as [string[], string, Scope[], boolean][])(
  '%j offers %s to %j: %s',
  (offers, key, scopes, is) => {
    expect(isOffered(plan({ offers }), key, scopes)).toBe(is);
  },
);

test('a wrong name is refused with the nearest one', () => {
  expect(writesProblem(['retry_job', 'cancel_job'], TOOLS)).toBeNull();
  expect(writesProblem(['cancel_jobs'], TOOLS)).toContain('did you mean "cancel_job"?');
  // What reads is always allowed.
  expect(writesProblem(['overview'], TOOLS)).toContain('unknown tool');
});
