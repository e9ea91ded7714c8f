import { defineJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import type { Script } from '../../load/script.ts';

/** Runs after a batch, and notes how that ended. */
export const callback = defineJob({
  key: 'callback',
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 8,
  run: (params: Script, ctx) => {
    const effects = new EffectLog(ctx, params, 'process');
    for (const { id, state } of ctx.parents) effects.note('told', { batch: { id, state } });
    return effects.end();
  },
});
