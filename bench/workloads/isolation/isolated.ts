import type { Bench } from '../../harness/bench.ts';
import { nowMs } from '../../harness/clock.ts';
import type { Isolation } from '../../systems/system.ts';
import { fill } from '../drain.ts';

const POLL_MS = 50;
const CLOSE_POLL_MS = 5;

/**
 * A drain whose handlers run in other processes, where they cannot be counted. The store is asked
 * instead, rarely, and more often towards the end.
 */
export async function drainIsolated(
  bench: Bench,
  system: string,
  plan: { isolation: Isolation; jobs: number; warmup: number; cutMs: number },
): Promise<number> {
  await using store = await bench.store(system);
  const { isolation, jobs } = plan;
  await fill(bench, system, store.url, jobs, isolation);
  const beginMs = nowMs();
  await using agent = await bench.open({ system, url: store.url, role: 'worker', isolation });
  let from: { atMs: number; left: number } | undefined;
  for (;;) {
    const left = await store.unfinished();
    const atMs = nowMs();
    if (!from && left <= jobs - plan.warmup) from = { atMs, left };
    if (left === 0 || atMs - beginMs > plan.cutMs) {
      await agent.stop();
      const base = from && from.left > left ? from : { atMs: beginMs, left: jobs };
      return ((base.left - left) / (atMs - base.atMs)) * 1_000;
    }
    await agent.alive(left < jobs / 10 ? CLOSE_POLL_MS : POLL_MS);
  }
}
