import { defineJob } from 'longshore';

/** Never yields to the event loop. Heartbeats do not suffer, since they come from the worker. */
export const cpuBound = defineJob({
  key: 'cpu-bound',
  owner: 'team-examples',
  run(params: { seconds?: number }) {
    const end = performance.now() + (params.seconds ?? 5) * 1_000;
    let rounds = 0;
    while (performance.now() < end) rounds += 1;
    return { rounds };
  },
});
