import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import { STALL_TIMEOUT_MS } from '../../load/limits.ts';
import type { Script } from '../../load/script.ts';

const TICK_MS = 100;

/** Gives signs of life for longer than its stall timeout, and then falls silent. */
export const silent = defineJob({
  key: 'silent',
  retry: { baseMs: 100, maxMs: 1_000 },
  stallTimeoutMs: STALL_TIMEOUT_MS,
  timeoutSeconds: 20,
  cancelGraceMs: 200,
  async run(params: Script, ctx) {
    const effects = new EffectLog(ctx, params, 'process');
    const { times = 0, holdMs = 0 } = params;
    for (let workedMs = 0; workedMs < holdMs; workedMs += TICK_MS) {
      await pause(TICK_MS);
      effects.note('tick');
      ctx.heartbeat();
    }
    if (ctx.attempt <= times) {
      effects.note('stall');
      await pause(600_000);
    }
    return effects.end();
  },
});
