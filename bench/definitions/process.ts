import { defineJob } from '../../src/index.ts';

/** Runs in a warm process, one job at a time. */
export const noop = defineJob({
  key: 'noop-process',
  isolation: 'process',
  run: (_params: { n: number; at?: number }) => null,
});
