import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Execution } from './execution.ts';
import { Gathering } from './gathering.ts';

const RULE = { size: 3, waitMs: 100 };

let started: string[][];
let gathering: Gathering;

beforeEach(() => {
  vi.useFakeTimers();
  started = [];
  gathering = new Gathering((executions) => started.push(executions.map(({ job }) => job.id)));
});
afterEach(() => {
  vi.useRealTimers();
});

const job = (id: string, changes: { key?: string; tenant?: string; shard?: number } = {}) => {
  const { key = 'a', tenant = 'default', shard = 0 } = changes;
  return { job: { id }, definition: { key, version: 1 }, tenant, shard } as unknown as Execution;
};

const add = (...args: Parameters<typeof job>) => gathering.add(job(...args), RULE);

test('a group starts with its size, at once', () => {
  for (const id of ['1', '2', '3', '4']) add(id);
  expect(started).toEqual([['1', '2', '3']]);
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1', '2', '3'], ['4']]);
});

test('or when its first job has waited; later ones do not prolong it', () => {
  add('1');
  vi.advanceTimersByTime(60);
  add('2');
  vi.advanceTimersByTime(39);
  expect(started).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(started).toEqual([['1', '2']]);
});

test('definitions and tenants have groups of their own', () => {
  add('1');
  add('2', { key: 'b' });
  add('3', { tenant: 'acme' });
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1'], ['2'], ['3']]);
});

test('all start when nothing more can be gathered', () => {
  add('1');
  add('2', { key: 'b' });
  gathering.flush();
  gathering.flush();
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1'], ['2']]);
});

test('what is dropped never starts', () => {
  add('1');
  add('2', { key: 'b', shard: 1 });
  expect(gathering.drop(1).map((one) => one.job.id)).toEqual(['2']);
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1']]);
  add('3');
  expect(gathering.drop().map((one) => one.job.id)).toEqual(['3']);
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1']]);
});

test('of a group with jobs of several shards, only those of one are dropped', () => {
  add('1');
  add('2', { shard: 1 });
  expect(gathering.drop(1).map((one) => one.job.id)).toEqual(['2']);
  add('3', { shard: 2 });
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['1', '3']]);
});

test('a group that loses its first job keeps the others', () => {
  add('1');
  add('2', { shard: 1 });
  expect(gathering.drop(0).map((one) => one.job.id)).toEqual(['1']);
  vi.advanceTimersByTime(100);
  expect(started).toEqual([['2']]);
});
