import { setTimeout as pause } from 'node:timers/promises';
import type { JobContext } from '../../src/core/definition/define.ts';
import type { Script } from '../load/script.ts';
import type { EffectLog } from './effects.ts';

/**
 * Sleeps once. The attempt stays for a while when its sleep is stored, and may end its process then:
 * the next one must not begin the sleep anew, nor leave it out.
 */
export async function sleepOnce(
  ctx: JobContext,
  effects: EffectLog,
  { delayMs = 0, holdMs = 0, times = 0 }: Script,
): Promise<void> {
  effects.note('sleep', { delayMs });
  try {
    await ctx.sleep(delayMs);
  } catch (error) {
    await pause(holdMs);
    if (ctx.attempt <= times) {
      effects.note('crash');
      process.kill(process.pid, 'SIGKILL');
      await pause(600_000);
    }
    throw error;
  }
  effects.note('woke');
}
