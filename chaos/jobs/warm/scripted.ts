import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, type JobContext, NonRetryable, RetryAfter } from 'longshore';
import { runFolder, EffectLog } from '../../history/effects.ts';
import { sleepOnce } from '../../history/sleep-once.ts';
import { waitForToken } from '../../history/wait-for-token.ts';
import type { Script } from '../../load/script.ts';

const TICK_MS = 100;
/** A retry comes a tenth of a second after a failure; a rescue takes the rest of a lease. */
const RETRIED_BY_THEN_MS = 1_500;
const MEMORY_BYTES = 300_000_000;

/** Does what its params say, and leaves word of it. */
export const scripted = defineJob({
  key: 'scripted',
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 8,
  cancelGraceMs: 500,
  async run(params: Script, ctx) {
    const effects = new EffectLog(ctx, params, 'process');
    const { does, times = 0, holdMs = 0, againMs = 0 } = params;
    if (does === 'slow' || does === 'long') await work(holdMs, ctx, effects);
    else if (does === 'sleep') await sleepOnce(ctx, effects, params);
    else if (holdMs > 0) await pause(holdMs);
    if (ctx.attempt > 1 && againMs > 0 && wasLost(ctx, does)) await work(againMs, ctx, effects);
    if (does === 'wait') await waitForToken(ctx, effects);
    if (ctx.attempt <= times) await misbehave(params, ctx, effects);
    return effects.end();
  },
});

/** A job that succeeds at once runs again only when it was lost; one that throws has to remember. */
function wasLost({ jobId }: JobContext, does: Script['does']): boolean {
  if (does !== 'relapse') return true;
  const { mtimeMs } =
    statSync(join(runFolder(), `relapse-${jobId}`), { throwIfNoEntry: false }) ?? {};
  return mtimeMs === undefined || Date.now() - mtimeMs > RETRIED_BY_THEN_MS;
}

async function work(holdMs: number, ctx: JobContext, effects: EffectLog): Promise<void> {
  ctx.abortSignal.addEventListener('abort', () => effects.note('abort'), { once: true });
  for (let workedMs = 0; workedMs < holdMs; workedMs += TICK_MS) {
    await pause(TICK_MS, undefined, { signal: ctx.abortSignal });
    effects.note('tick');
    ctx.progress(Math.min(1, workedMs / holdMs), effects.execution);
  }
}

async function misbehave({ does, delayMs = 0 }: Script, ctx: JobContext, effects: EffectLog) {
  switch (does) {
    case 'relapse':
      writeFileSync(join(runFolder(), `relapse-${ctx.jobId}`), '');
      throw effects.error();
    case 'throw':
    case 'slow':
      throw effects.error();
    case 'retry-after':
      throw new RetryAfter(delayMs, effects.error().message);
    case 'give-up':
      throw new NonRetryable(effects.error().message);
    case 'crash':
      effects.note('crash');
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'memory':
      effects.note('crash');
      runOutOfMemory();
      break;
    case 'hang':
      effects.note('hang');
      for (;;);
    case 'snooze':
      // A snooze uses no attempt, so the number of the attempt cannot end it.
      if (Math.random() < 0.5) return;
      effects.note('snooze', { delayMs });
      ctx.snooze(delayMs);
      break;
    case 'poison':
      effects.note('kill-worker');
      process.kill(process.ppid, 'SIGKILL');
      break;
    case 'ok':
    case 'wait':
    case 'sleep':
    case 'spawn':
    case 'stall':
    case 'cold':
    case 'narrow':
    case 'grouped':
    case 'long':
    case 'deployed':
    case 'probe':
      return;
  }
  // What was done to this process, or to its worker, ends it before this does.
  await pause(600_000);
}

/** The kernel refuses more memory than this, as it does at the limit of a container. */
function runOutOfMemory(): void {
  execFileSync('prlimit', ['--pid', `${process.pid}`, `--data=${MEMORY_BYTES}`]);
  const held: unknown[] = [];
  for (;;) held.push(Buffer.alloc(1_000_000), { held: held.length });
}
