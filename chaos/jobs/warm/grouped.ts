import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type BatchItem, defineBatchJob } from 'longshore';
import { EffectLog } from '../../history/effects.ts';
import { GROUP_SIZE } from '../../load/limits.ts';
import type { Script } from '../../load/script.ts';

/** Several jobs in one call. Each gives an account of itself, and says with which others it ran. */
export const grouped = defineBatchJob({
  key: 'grouped',
  size: GROUP_SIZE,
  waitMs: 150,
  retry: { baseMs: 100, maxMs: 1_000 },
  timeoutSeconds: 8,
  async run(items: readonly BatchItem<Script>[]) {
    const group = randomUUID();
    const runs = items.map((item) => {
      return { item, effects: new EffectLog(item, item.params, 'process', { group }) };
    });
    await pause(Math.max(...items.map(({ params }) => params.holdMs ?? 0)));
    if (items.some(({ params, attempt }) => params.crashes && attempt === 1)) {
      for (const { effects } of runs) effects.note('crash');
      process.kill(process.pid, 'SIGKILL');
    }
    return runs.map(({ item, effects }) =>
      item.attempt <= (item.params.times ?? 0) ? item.fail(effects.error()) : effects.end(),
    );
  },
});
