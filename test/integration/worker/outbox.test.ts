import { describe, expect, it } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { DatabaseUnavailable } from '../../../src/store/connection/db.ts';
import { saveProgress } from '../../../src/store/attempt/progress.ts';
import { Execution } from '../../../src/worker/attempt/execution.ts';
import { Outbox } from '../../../src/worker/attempt/outbox.ts';
import { StoreOutcomes } from '../../../src/worker/attempt/outcome-writer.ts';
import type { WorkerStore } from '../../../src/worker/claim/port.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { failure, SUCCESS } from '../../support/jobs.ts';
import { lookAt, reachState, type Subject } from '../../support/checks/reach-state.ts';

const POISON: Outcome = { kind: 'success', resultJson: 'no json' };

describe('outcomes on their way into the database', () => {
  const database = sharedDatabase();

  /** A running job for each of these outcomes, which wait to be written in this order. */
  const arrange = async (outcomes: readonly Outcome[], queue: WorkerStore) => {
    const writer = new StoreOutcomes(queue, systemClock, silentLog);
    const outbox = new Outbox(1, writer, silentLog);
    const subjects: Subject[] = [];
    for (const outcome of outcomes) {
      const subject = await reachState(database, 'running');
      if (!subject.job) throw new Error('not claimed');
      const definition = definitionInfo({ key: 'x' }, { paramsSchema: null });
      const accepted = { job: subject.job, definition, tenant: 'default', secretsMark: null };
      const execution = new Execution(0, accepted, 1_000);
      outbox.add(execution, { outcome, usage: NO_USAGE });
      subjects.push(subject);
    }
    return { outbox, subjects };
  };

  const queue = () => postgresQueue(database.db, database.db, database.waker);

  const writeAll = async (outbox: Outbox) => await outbox.write(0, outbox.take(0, 100));

  const statesOf = async (subjects: readonly Subject[]) =>
    await Promise.all(subjects.map(async (subject) => (await lookAt(database, subject)).state));

  it('are not delayed by one that cannot be stored', async () => {
    const outcomes = [SUCCESS, POISON, failure('HANDLER_ERROR'), SUCCESS, POISON];
    const { outbox, subjects } = await arrange(outcomes, queue());
    await writeAll(outbox);
    const ended = ['succeeded', 'failed', 'retrying', 'succeeded', 'failed'];
    expect(await statesOf(subjects)).toEqual(ended);
    expect(outbox.empty).toBe(true);
  });

  it('are all still there when the database goes away while a bad one is searched for', async () => {
    const real = queue();
    let calls = 0;
    let link: HeldLink | undefined;
    const { outbox, subjects } = await arrange([SUCCESS, SUCCESS, SUCCESS, POISON], {
      ...real,
      settle: async (shard, settlements) => {
        calls += 1;
        if (calls !== 2) return await real.settle(shard, settlements);
        // A lock stops its first half, and then the server cancels it.
        link = await HeldLink.begin(database);
        const { id, claim } = settlements[0] ?? { id: '', claim: 0 };
        await saveProgress(link, 0, [{ id, claim, fraction: 0.5, message: null }]);
        const settling = real.settle(shard, settlements);
        const stopping = untilBlocked(database).then(
          async () =>
            await database.sql(
              `select pg_cancel_backend(pid) from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock'`,
            ),
        );
        return await Promise.all([settling, stopping]).then(([settled]) => settled);
      },
    });
    await expect(writeAll(outbox)).rejects.toThrow(DatabaseUnavailable);
    expect(outbox.count(0)).toBe(4);
    await link?.rollback();
    await writeAll(outbox);
    expect(await statesOf(subjects)).toEqual(['succeeded', 'succeeded', 'succeeded', 'failed']);
    expect(outbox.empty).toBe(true);
  });
});
