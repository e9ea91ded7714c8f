import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { writeStreamChunks } from '../../../src/store/attempt/stream-chunks.ts';
import { readStream } from '../../../src/store/read/read-stream.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import { loadSteps, saveStep } from '../../../src/store/attempt/steps.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { settleAs, SUCCESS } from '../../support/jobs.ts';
import { lookAt, reachOwned, type Subject } from '../../support/checks/reach-state.ts';
import { allEvents, allLogs, chunk, Follower, saidBy } from '../../support/history.ts';

/**
 * A claim that writes something, and a caller that ends the claim or asks it to stop, at the
 * same moment. Each pair in both orders: nothing is ever added to a claim that is over, and each writer that
 * reads along misses nothing.
 */
const database = sharedDatabase();

type Owned = Subject & { job: ClaimedJob };

/** The ways to write something down; each says how much of it there is. */
const WRITES: Record<
  string,
  { write(db: Queryable, job: ClaimedJob): Promise<unknown>; count(id: string): Promise<number> }
> = {
  levels: {
    write: async (db, job) => await writeLogChunks(db, 0, [chunk(job, 0, ['level'])]),
    count: async (id) => (await allLogs(database, id)).length,
  },
  'an event': {
    write: async (db, job) => await writeEvents(db, 0, [saidBy(job, 0)]),
    count: async (id) =>
      (await allEvents(database, id)).filter(({ type }) => type === 'custom').length,
  },
  'a chunk of the stream': {
    write: async (db, { id, claim, attempts }) =>
      await writeStreamChunks(db, 0, [{ id, claim, attempt: attempts, n: 0, data: 'text' }]),
    count: async (id) => {
      const page = await readStream(database.db, 'default', id, null);
      return page?.entries.filter(({ text }) => text !== null).length ?? 0;
    },
  },
  'a step': {
    write: async (db, { id, claim }) =>
      await saveStep(db, 0, { id, claim, name: 'a', valueJson: '1' }),
    count: async (id) => (await loadSteps(database.db, 0, id)).steps.length,
  },
};

/** The ways to end a claim. */
const ENDS: Record<string, (db: Queryable, subject: Owned) => Promise<unknown>> = {
  settle: async (db, { job }) => await settleAs({ db }, job, SUCCESS),
  'the reaper': async (db, { job }) =>
    await settleAs({ db }, job, { kind: 'lost', message: 'gone' }),
  'a turn': async (db, { job, worker }) => {
    const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0.5);
    const settlements = [
      { id: job.id, claim: job.claim, was: 'running' as const, transition, usage: NO_USAGE },
    ];
    return await settleAndClaim(db, 0, { settlements, limit: 1, instance: worker, levels: [] });
  },
};

const PAIRS = Object.keys(WRITES).flatMap((what) => Object.keys(ENDS).map((end) => [what, end]));

describe.each(PAIRS)('%s and %s', (what = '', end = '') => {
  const { write, count } = WRITES[what] ?? { write: fail, count: fail };
  const finish = ENDS[end] ?? fail;

  it('the write comes first, so the end waits for it', async () => {
    const subject = await reachOwned(database);
    const link = await HeldLink.begin(database);
    await write(link, subject.job);
    const ending = finish(database.db, subject);
    await untilBlocked(database);
    await link.commit();
    await ending;
    expect(await count(subject.id)).toBe(1);
    expect((await lookAt(database, subject)).state).not.toBe('running');
  });

  it('the end comes first, so nothing is written', async () => {
    const subject = await reachOwned(database);
    const link = await HeldLink.begin(database);
    await finish(link, subject);
    const writing = write(database.db, subject.job);
    await untilBlocked(database);
    await link.commit();
    expect((await writing) ?? false).toBe(false);
    expect(await count(subject.id)).toBe(0);
  });

  it('the end comes first and is undone, so it is written after all', async () => {
    const subject = await reachOwned(database);
    const link = await HeldLink.begin(database);
    await finish(link, subject);
    const writing = write(database.db, subject.job);
    await untilBlocked(database);
    await link.rollback();
    expect((await writing) ?? true).toBe(true);
    expect(await count(subject.id)).toBe(1);
  });
});

describe('an event and a cancel', () => {
  const typesOf = async (id: string) =>
    (await allEvents(database, id)).map(({ type }) => type).slice(3);

  it('the event comes first, so the cancel follows it', async () => {
    const { id, job } = await reachOwned(database);
    const live = new Follower(database, id);
    const link = await HeldLink.begin(database);
    await writeEvents(link, 0, [saidBy(job, 0)]);
    const cancelling = cancelJob(database.db, 'default', id);
    await untilBlocked(database);
    await live.look();
    await link.commit();
    await cancelling;
    await live.look();
    expect(await typesOf(id)).toEqual(['custom', 'cancel_requested']);
    expect(live.events).toEqual(await allEvents(database, id));
  });

  it('the cancel comes first, so the event follows it', async () => {
    const { id, job } = await reachOwned(database);
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', id);
    const writing = writeEvents(database.db, 0, [saidBy(job, 0)]);
    await untilBlocked(database);
    await link.commit();
    await writing;
    expect(await typesOf(id)).toEqual(['cancel_requested', 'custom']);
  });
});

describe('a reader that follows', () => {
  it('misses nothing and reads nothing twice, while jobs emit events, are cancelled and end', async () => {
    const follow = async (id: string) => {
      const live = new Follower(database, id);
      while (!live.ended) await live.look();
      return live.events;
    };
    const talk = async (job: ClaimedJob) => {
      for (let n = 0; n < 20; n += 2) {
        await writeEvents(database.db, 0, [saidBy(job, n), saidBy(job, n + 1)]);
      }
      const status = await settlementStatusOf(database.db, 0, job.id, job.claim);
      const was = status.kind === 'owned' ? status.state : 'running';
      await settleAs(database, job, SUCCESS, was);
    };
    const subjects = await Promise.all(
      Array.from({ length: 12 }, async () => await reachOwned(database)),
    );
    const followed = await Promise.all(
      subjects.map(async ({ id, job }, index) => {
        const reading = [follow(id), follow(id)];
        const talking = talk(job);
        if (index % 3 > 0) {
          const said = async () => (await allEvents(database, id)).length > index;
          while (!(await said()));
          await cancelJob(database.db, 'default', id);
        }
        await talking;
        await settleAs(database, job, SUCCESS, 'cancelling');
        return await Promise.all(reading);
      }),
    );
    for (const [index, { id }] of subjects.entries()) {
      const all = await allEvents(database, id);
      expect(all.filter(({ type }) => type === 'custom')).toHaveLength(20);
      for (const events of followed[index] ?? []) expect(events).toEqual(all);
    }
    const cancels = followed.flat(2).filter(({ type }) => type === 'cancel_requested');
    expect(cancels.length).toBeGreaterThan(0);
  });
});

async function fail(): Promise<never> {
  throw new Error('no such way');
}
