import { defineJob } from 'longshore';
import { EffectLog, sha } from '../../history/effects.ts';
import { childrenOf, type Script } from '../../load/script.ts';

/** Spawns children, waits for them, and notes whom it has seen. Some attempts fail in between. */
export const family = defineJob({
  key: 'family',
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 120,
  async run(params: Script, ctx) {
    const effects = new EffectLog(ctx, params, 'process');
    const children = childrenOf(params).map((script) => {
      return { definition: 'quick', params: script, options: { maxAttempts: 12 } };
    });
    await ctx.spawnMany(children);
    if (ctx.attempt <= (params.times ?? 0)) throw effects.error();
    effects.note('wait');
    const outcomes = await ctx.waitForChildren({ onFailure: 'return' });
    const resultShas = outcomes.map(({ state, result }) => {
      return state === 'succeeded' ? sha(JSON.stringify(result)) : null;
    });
    const jobs = outcomes.map(({ id }) => id);
    effects.note('joined', { jobs, resultShas });
    return effects.end();
  },
});
