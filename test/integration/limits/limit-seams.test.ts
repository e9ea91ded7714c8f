import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RetryRequest } from '../../../src/core/failure/retry.ts';
import { cancelJobs } from '../../../src/store/change/cancel-jobs.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { deleteJobs } from '../../../src/store/change/delete-jobs.ts';
import { expireJobs } from '../../../src/store/claim/expire.ts';
import { pause, resume } from '../../../src/store/limits/pauses.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs } from '../../support/server-edge.ts';
import { clearFlow, expectNoDrift, publish, take } from '../../support/limits.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';

/** Where what people do to jobs meets limits, keys and pauses. */
const database = sharedDatabase();
let worker: string;

beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
});
afterEach(async () => await expectNoDrift(database));

const EXPIRE = `update longshore.waiting set expires_at = now() - interval '1 s' where id = $1`;
const NOW: RetryRequest = { mode: 'now', runAt: null, paramsJson: null };
const retry = async (id: string, db: Queryable = database.db) =>
  await retryJob(db, 'default', id, NOW);
const keyed = async (changes: Parameters<typeof enqueueOne>[1] = {}) =>
  await enqueueOne(database, { concurrencyKey: 'a', maxAttempts: 1, ...changes });
const claimed = async () => await take(database, worker, 10);
const claimedIds = async () => (await claimed()).map(({ id }) => id);
const first = ([job]: ClaimedJob[]): ClaimedJob => {
  if (!job) throw new Error('nothing was claimed');
  return job;
};

/** One that failed for good, and one that now has what it had. */
async function failedAndHolder(): Promise<{ failed: string; holder: ClaimedJob }> {
  const failed = await keyed();
  await settleAs(database, first(await claimed()), failure('HANDLER_ERROR'));
  await keyed();
  return { failed, holder: first(await claimed()) };
}

describe('a job that is retried by hand', () => {
  it.each([{ concurrencyKeyLimit: 1 }, { concurrencyLimit: 1 }])(
    'waits for its place where there is %j',
    async (limits) => {
      await publish(database, 'hello', limits);
      const { failed, holder } = await failedAndHolder();
      expect(await retry(failed)).toMatchObject({ kind: 'changed', status: 'queued' });
      expect(await claimed()).toEqual([]);
      await settleAs(database, holder, SUCCESS);
      expect(await claimedIds()).toEqual([failed]);
    },
  );

  it('waits while its definition is paused', async () => {
    const { failed } = await failedAndHolder();
    const target = { scope: 'definition', name: 'hello' } as const;
    await pause(database.db, target, null, null);
    await retry(failed);
    expect(await claimed()).toEqual([]);
    await resume(database.db, target);
    expect(await claimedIds()).toEqual([failed]);
  });

  it('is refused with 409 while another lives that has its unique key', async () => {
    const unique = { key: 'one', while: 'active', onConflict: 'existing' } as const;
    const failed = await keyed({ unique });
    await settleAs(database, first(await claimed()), failure('HANDLER_ERROR'));
    const holder = await keyed({ unique });
    const app = serverOn(database);
    const answer = await callAs(app, null, 'POST', `/v1/jobs/${failed}/retry`);
    await app.close();
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining(holder)]);
  });
});

it('a job that is over before it began is not started past a limiter either', async () => {
  await publish(database, 'hello', { concurrencyLimit: 1 });
  const late = await keyed();
  const next = await keyed();
  await database.sql(EXPIRE, [late]);
  expect(await claimedIds()).toEqual([next]);
});

describe('the permit of a key', () => {
  beforeEach(async () => await publish(database, 'hello', { concurrencyKeyLimit: 1 }));

  it.each<[string, (id: string) => Promise<unknown>]>([
    [
      'cancelled with many',
      async (id) => {
        const asked = { tenant: 'default', states: ['queued'] as const, by: null };
        return await cancelJobs(database.db, 0, [id], asked);
      },
    ],
    [
      'over before it began',
      async (id) => {
        await database.sql(EXPIRE, [id]);
        await expireJobs(database.db, 0, 10);
      },
    ],
  ])('goes to the next when the job at its head is %s', async (_, end) => {
    const head = await keyed();
    const next = await keyed();
    await end(head);
    expect(await claimedIds()).toEqual([next]);
  });

  it('stays with a job that is replaced by a newer one of its kind', async () => {
    const unique = { key: 'one', while: 'queued', onConflict: 'replace' } as const;
    const head = await keyed({ unique });
    const next = await keyed({ priority: 9 });
    expect(await keyed({ unique, priority: 1, paramsJson: '{"newer":true}' })).toBe(head);
    const [job, ...more] = await claimed();
    expect([job?.id, job?.paramsJson, more]).toEqual([head, '{"newer":true}', []]);
    await settleAs(database, first(job ? [job] : []), SUCCESS);
    expect(await claimedIds()).toEqual([next]);
  });

  it('is not given twice by a job that ended, was deleted, and held it once', async () => {
    const { failed, holder } = await failedAndHolder();
    await deleteJobs(database.db, 0, [failed], {
      tenant: 'default',
      states: ['failed'],
      endedBefore: null,
    });
    expect(await retry(failed)).toEqual({ kind: 'missing' });
    const next = await keyed();
    expect(await claimed()).toEqual([]);
    await settleAs(database, holder, SUCCESS);
    expect(await claimedIds()).toEqual([next]);
  });

  it.each(['commits', 'rolls back'])(
    'is not lost between its end and a retry that %s',
    async (how) => {
      const { failed, holder } = await failedAndHolder();
      const link = await HeldLink.begin(database);
      await retry(failed, link);
      const settling = settleAs(database, holder, SUCCESS);
      await untilBlocked(database);
      await (how === 'commits' ? link.commit() : link.rollback());
      await settling;
      await sweepLimiters(database.db, 0, SWEEP_START, 100);
      expect(await claimedIds()).toEqual(how === 'commits' ? [failed] : []);
      if (how === 'rolls back') expect(await retry(failed)).toMatchObject({ kind: 'changed' });
    },
  );

  it('is taken once by two retries at the same moment', async () => {
    const { failed, holder } = await failedAndHolder();
    await settleAs(database, holder, SUCCESS);
    const link = await HeldLink.begin(database);
    await retry(failed, link);
    const second = retry(failed);
    await untilBlocked(database);
    await link.commit();
    expect(await second).toMatchObject({ kind: 'refused' });
    expect(await claimedIds()).toEqual([failed]);
  });
});
