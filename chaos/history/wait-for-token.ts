import type { JobContext } from '../../src/core/definition/define.ts';
import type { EffectLog } from './effects.ts';

/** Far longer than a run: a lost signal shows as a job that never ends. */
const WAIT_MS = 3_600_000;

export async function waitForToken(ctx: JobContext, effects: EffectLog): Promise<void> {
  effects.note('wait');
  const token = await ctx.waitFor<string>('go', { timeoutMs: WAIT_MS });
  effects.note('signal', { token });
}
