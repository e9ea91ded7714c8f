import { defineJob } from '../../src/index.ts';

/** Says when it started, so that the latency from the HTTP call can be read from the results. */
export const peak = defineJob({
  key: 'peak',
  isolation: 'process',
  run: (_params: { n: number; at: number }) => Number(process.hrtime.bigint()) / 1e6,
});
