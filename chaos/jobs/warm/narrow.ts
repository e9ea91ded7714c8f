import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import { waitForToken } from '../../history/wait-for-token.ts';
import { NARROW_KEY_LIMIT, NARROW_LIMIT } from '../../load/limits.ts';
import type { Script } from '../../load/script.ts';

/** Jobs that may not all run at once: so many of them, and fewer of each key. Some wait for a signal. */
export const narrow = defineJob({
  key: 'narrow',
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 8,
  concurrencyLimit: NARROW_LIMIT,
  concurrencyKeyLimit: NARROW_KEY_LIMIT,
  async run(params: Script, ctx) {
    const effects = new EffectLog(ctx, params, 'process');
    await pause(params.holdMs ?? 0);
    if (params.does === 'wait') await waitForToken(ctx, effects);
    return effects.end();
  },
});
