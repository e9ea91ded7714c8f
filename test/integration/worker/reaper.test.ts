import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { lookAt, reachState, type Subject } from '../../support/checks/reach-state.ts';

const ERROR = 50;

describe('the reaper', () => {
  const database = databasePerTest();
  let lines: { level: number; msg: string; jobId?: string }[];

  beforeEach(async () => {
    lines = [];
  });

  /** A job whose worker is dead. On its last attempt it ends, else it is brought back. */
  const orphan = async (maxAttempts: number): Promise<Subject> => {
    const subject = await reachState(database, 'running', maxAttempts);
    const dead = `update longshore.worker set dead_at = now() where instance = $1`;
    await database.sql(dead, [subject.worker]);
    return subject;
  };

  /** A start and a stop let a reaper finish exactly one round. */
  const rounds = async (count: number) => {
    const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
    const service = reaper({
      db: database.db,
      waker: database.waker,
      clock: systemClock,
      pollMs: 60_000,
      log,
    });
    for (let round = 0; round < count; round += 1) {
      await service.start();
      await service.stop();
    }
  };

  const stateOf = async (subject: Subject) => (await lookAt(database, subject)).state;

  it.each([
    [
      'an outcome that no worker of ours wrote',
      `insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
         interruptions, finished_at, result)
       select shard, id, queue, 'succeeded', rank, 1, 1, 1, 0, now(), '1'
       from longshore.running where id = `,
    ],
    [
      'an attempt that no worker of ours wrote',
      `insert into longshore.attempt (shard, job_id, claim_no, number, worker, started_at,
         finished_at)
       select shard, id, claim_no, 1, worker, now(), now() from longshore.running where id = `,
    ],
  ])('brings the others back when one is in the way of %s', async (_, insert) => {
    const good = [await orphan(3), await orphan(3)];
    const bad = await orphan(1);
    const alsoGood = [await orphan(1), await orphan(3), await orphan(3)];
    // Past the guard, which would refuse it.
    await database.sql(
      `begin; set local session_replication_role = replica; ${insert} '${bad.id}'; commit`,
    );
    await rounds(3);
    expect(await Promise.all(good.map(stateOf))).toEqual(['queued', 'queued']);
    expect(await Promise.all(alsoGood.map(stateOf))).toEqual(['failed', 'queued', 'queued']);
    const still = 'select state from longshore.running where id = $1';
    expect(await database.sql(still, [bad.id])).toEqual([{ state: 'running' }]);
    // It fails in every round, and is logged once.
    const errors = lines.filter(({ level }) => level >= ERROR);
    expect(errors).toMatchObject([{ jobId: bad.id }]);
    expect(lines.filter(({ msg }) => msg === 'tick failed')).toEqual([]);
    expect(lines.filter(({ msg }) => msg === 'job.reclaimed')).toHaveLength(5);
  });
});
