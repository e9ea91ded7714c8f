import { defineJob } from '../../src/index.ts';

/** Runs in a process of its own, made for this job and ended with it. */
export const noop = defineJob({
  key: 'noop-fresh',
  isolation: 'fresh',
  run: (_params: { n: number; at?: number }) => null,
});
