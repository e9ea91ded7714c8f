import { defineJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import type { Script } from '../../load/script.ts';

/** A quick job in a process that is used once. Those are dear, so not every run has them. */
export const cold = defineJob({
  key: 'cold',
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 8,
  isolation: 'fresh',
  run: (params: Script, ctx) => new EffectLog(ctx, params, 'fresh').end(),
});
