import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';

/** Takes its time, says how far it is, and stops at once when it is asked to. */
export const slow = defineJob({
  key: 'slow',
  owner: 'team-examples',
  async run(params: { seconds?: number }, ctx) {
    const steps = 20;
    const seconds = params.seconds ?? 10;
    for (let step = 1; step <= steps; step += 1) {
      await pause((seconds * 1_000) / steps, undefined, { signal: ctx.abortSignal });
      ctx.progress(step / steps, `step ${step} of ${steps}`);
      ctx.logger.info('step %d of %d', step, steps);
    }
    return { seconds };
  },
});
