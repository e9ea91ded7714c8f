import { defineJob } from '../../src/index.ts';

/** Runs in a thread of the worker, one job at a time. */
export const noop = defineJob({
  key: 'noop-thread',
  isolation: 'thread',
  run: (_params: { n: number; at?: number }) => null,
});
