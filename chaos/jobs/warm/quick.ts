import { defineJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import { sleepOnce } from '../../history/sleep-once.ts';
import type { Script } from '../../load/script.ts';

const retry = { baseMs: 100, maxMs: 1_000 };

/** The bulk of the work, in a warm process. */
export const quick = defineJob({
  key: 'quick',
  retry,
  timeoutSeconds: 8,
  run: (params: Script, ctx) => new EffectLog(ctx, params, 'process').end(),
});

/** The same inside the worker, whose wall clock may be wrong; some sleep. */
export const inline = defineJob({
  key: 'inline',
  retry,
  isolation: 'inline',
  run(params: Script, ctx) {
    const effects = new EffectLog(ctx, params, 'inline');
    if (params.does !== 'sleep') return effects.end();
    return sleepOnce(ctx, effects, params).then(() => effects.end());
  },
});
