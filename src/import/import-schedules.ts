import { Conflict, ProblemError } from '../client/index.ts';
import { noKey, type Run } from './run.ts';
import type { WaitingSchedule } from './source.ts';

/** Schedules are known by their names, so a second run finds those of the first. */
export async function importSchedules(run: Run): Promise<void> {
  const { source, counters, map, dryRun, remove } = run;
  for await (const found of source.schedules()) {
    if (!('cron' in found)) {
      counters.left(found);
      continue;
    }
    const { queue, name, cron } = found;
    const definitionKey = map.keyOf(found.definitionName);
    if (definitionKey === null) {
      counters.refused({ queue, reason: noKey(found.definitionName), count: 1, examples: [name] });
      continue;
    }
    const row = { queue, definitionKey, name, cron };
    if (dryRun) counters.schedules.push({ ...row, before: false });
    else {
      const before = await create(run, found, definitionKey);
      if (before === null) continue;
      counters.schedules.push({ ...row, before });
      if (remove) {
        await found.remove();
        counters.removed.schedules += 1;
      }
    }
  }
}

/** Whether it existed; null when the server refuses it. */
async function create(
  { client, counters }: Run,
  { queue, name, cron, options }: WaitingSchedule,
  definitionKey: string,
): Promise<boolean | null> {
  const page = await client.schedules.list({ definitionKey, name, limit: 1 });
  if (page.schedules.length > 0) return true;
  try {
    await client.schedules.create(definitionKey, cron, { ...options, name });
    return false;
  } catch (error) {
    if (error instanceof Conflict) return true;
    if (!(error instanceof ProblemError) || error.status >= 500) throw error;
    const reason = `refused here: ${error.message}`;
    counters.refused({ queue, reason, count: 1, examples: [name] });
    return null;
  }
}
