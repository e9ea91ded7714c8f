import { setTimeout as pause } from 'node:timers/promises';
import type { JobContext } from '../../src/core/definition/define.ts';
import type { Script } from '../load/script.ts';
import { EffectLog } from './effects.ts';

/**
 * What the deployed code of a run does. An archive holds the name of its build and calls this, so the
 * account of a job says which code really ran.
 */
export async function runDeployed(build: string, params: Script, ctx: JobContext) {
  const effects = new EffectLog(ctx, params, 'process', { build });
  await pause(params.holdMs ?? 0);
  if (ctx.attempt <= (params.times ?? 0)) throw effects.error();
  return effects.end();
}
