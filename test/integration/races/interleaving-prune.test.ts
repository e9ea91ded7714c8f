import { beforeEach, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { dropOldest } from '../../../src/store/change/prune.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { heartbeat } from '../../../src/store/workers/workers.ts';
import { postgresVersions, databasePerTest } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { datedPartitions, dateOf, enqueueDaysAgo, runningSince } from '../../support/old-jobs.ts';

/**
 * The pruner has its strong lock and stands still. Statements without history go on as if nothing
 * were; the others wait, and then find their old jobs in tables that have been replaced, or, when
 * the pruner gave up, in those that were there. The other order is in `retention-races.test.ts`.
 */
const WEEK = { retentionDays: 7, deadLetterDays: 0 };
const OLD_DAYS = 10;
const LOST = { kind: 'lost', message: 'gone' } as const;

describe.each(postgresVersions())('beside a pruner on PostgreSQL %i', (postgres) => {
  const database = databasePerTest({ postgres });
  let worker: string;

  beforeEach(async () => {
    await datedPartitions(database, OLD_DAYS);
    worker = await newWorker(database);
    // The guard looks into history at every commit, so with it everybody would wait.
    for (const table of ['waiting', 'running']) {
      await database.sql(`alter table longshore.${table} disable trigger guard_move`);
    }
  });

  const old = async (changes: Parameters<typeof enqueueDaysAgo>[2] = {}) =>
    await enqueueDaysAgo(database, OLD_DAYS, changes);
  const running = async () => await runningSince(database, OLD_DAYS);
  const statusOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;

  const queueOf = async (id: string) => {
    const rows = await database.sql<{ queue: number }>(
      'select queue from longshore.job where id = $1',
      [id],
    );
    return rows[0]?.queue ?? 0;
  };

  it.each(['commits', 'rolls back'])('all other transactions continue when it %s', async (end) => {
    const [succeeding, retried, lost, asked] = [
      await running(),
      await running(),
      await running(),
      await running(),
    ];
    const cancelled = await old({ definitionKey: 'cancelled' });
    const held = await old({ definitionKey: 'held', hold: true });
    const due = await old({ definitionKey: 'due', delayMs: 60_000 });
    await database.sql(`update longshore.waiting set run_at = now() where id = $1`, [due]);
    const queued = await old({ definitionKey: 'queued' });
    const lines = [{ queue: await queueOf(queued), rank: 0, floor: 0, attempts: 3 }];

    const pruner = await HeldLink.begin(database);
    expect(await dropOldest(pruner, WEEK)).toMatchObject({ partition: dateOf(OLD_DAYS) });

    // These need no history, and a heartbeat must not wait for anything of the kind.
    expect(await heartbeat(database.db, 0, worker, 60_000)).toMatchObject({ alive: true });
    expect(await promote(database.db, 0, 10)).toMatchObject({ promoted: 1 });
    expect(await releaseJob(database.db, 'default', held)).toMatchObject({ status: 'queued' });

    const waiting = [
      settleAs(database, succeeding, SUCCESS),
      settleAs(database, retried, failure('HANDLER_ERROR')),
      settleAs(database, lost, LOST),
      claim(database.db, 0, 1, worker, lines),
    ];
    const cancelling = [cancelled, asked.id].map(
      async (id) => await cancelJob(database.db, 'default', id),
    );
    await untilBlocked(database, waiting.length + cancelling.length);
    await (end === 'commits' ? pruner.commit() : pruner.rollback());

    const ids = [succeeding.id, retried.id, lost.id, queued];
    const answers = (await Promise.all(waiting)).map((rows) => rows.map(({ id }) => id));
    expect(answers).toEqual(ids.map((id) => [id]));
    expect(await Promise.all(cancelling)).toEqual([
      { kind: 'changed', status: 'cancelled' },
      { kind: 'changed', status: 'cancelling' },
    ]);
    const all = [...ids, cancelled, held, due, asked.id];
    expect(await Promise.all(all.map(statusOf))).toEqual([
      'succeeded',
      'retrying',
      'queued',
      'running',
      'cancelled',
      'queued',
      'queued',
      'cancelling',
    ]);
  });
});
