import { describe, expect, it } from 'vitest';
import { deadGroups, type GroupSearch } from '../../../src/store/read/dead-groups.ts';
import { type DeadLetterSearch, searchDeadLetters } from '../../../src/store/read/dead-letters.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { listJobs } from '../../../src/store/read/list-jobs.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { postgresVersions, databasePerTest } from '../../support/servers/database.ts';
import { BROKEN, GONE, manyDeadLetters, SLOW } from '../../support/dead-letters.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs } from '../../support/jobs.ts';

describe.each(postgresVersions())('dead letters on PostgreSQL %i', (postgres) => {
  const database = databasePerTest({ postgres });

  const any: DeadLetterSearch = {
    tenant: 'default',
    definitionKey: null,
    errorCode: null,
    fingerprint: null,
    from: null,
    to: null,
    q: null,
    after: null,
    limit: 1_000,
  };

  /** Page by page, to the end. */
  const search = async (changes: Partial<DeadLetterSearch>, limit = 1_000) => {
    const found: string[] = [];
    let after: DeadLetterSearch['after'] = null;
    do {
      const page = await searchDeadLetters(database.db, { ...any, ...changes, after, limit });
      found.push(...page.jobs.map(({ jobId }) => jobId));
      after = page.next;
    } while (after !== null);
    return found;
  };

  const groups = async (changes: Partial<GroupSearch> = {}, bounds = {}) =>
    await deadGroups(database.db, { ...any, ...changes }, bounds);

  it('are found by definition, code, fingerprint, time and text, each once', async () => {
    await manyDeadLetters(database, { key: 'a', count: 30, mistakes: [SLOW, GONE, BROKEN] });
    const params = { order: 'Blue-7' };
    await manyDeadLetters(database, { key: 'b', count: 7, mistakes: [SLOW], params });
    await manyDeadLetters(database, { key: 'a', tenant: 'other', count: 5, mistakes: [SLOW] });
    await enqueueOne(database, { definitionKey: 'a' });
    const count = async (changes: Partial<DeadLetterSearch>) => {
      const found = await search(changes, 4);
      expect(new Set(found).size).toBe(found.length);
      return found.length;
    };
    expect(await count({})).toBe(37);
    expect(await count({ definitionKey: 'b' })).toBe(7);
    expect(await count({ errorCode: 'TIMEOUT' })).toBe(17);
    expect(await count({ errorCode: 'NONE' })).toBe(0);
    expect(await count({ fingerprint: GONE.fingerprint })).toBe(10);
    expect(await count({ fingerprint: GONE.fingerprint, definitionKey: 'b' })).toBe(0);
    expect(await count({ q: 'order IS gone' })).toBe(10);
    expect(await count({ q: 'blue-7' })).toBe(7);
    expect(await count({ tenant: 'other' })).toBe(5);
    const newest = (await searchDeadLetters(database.db, { ...any, limit: 12 })).jobs;
    const times = newest.map(({ finishedAt }) => finishedAt ?? '');
    expect(times).toEqual(times.toSorted().reverse());
    expect(newest[0]).toMatchObject({ fingerprint: expect.any(String), status: 'failed' });
    const middle = new Date(times[5] ?? '');
    const later = await count({ from: middle });
    const earlier = await count({ to: middle });
    expect([later + earlier, later > 0, earlier > 0]).toEqual([37, true, true]);
  });

  it('are groups with counts, times, keys and versions, equal to a recount', async () => {
    await manyDeadLetters(database, { key: 'a', count: 30, mistakes: [SLOW, GONE, SLOW] });
    await manyDeadLetters(database, { key: 'b', version: 3, count: 4, mistakes: [SLOW] });
    await manyDeadLetters(database, { key: 'a', tenant: 'other', count: 9, mistakes: [BROKEN] });
    const recount = async () =>
      await database.sql(
        `select fingerprint, count(*)::int from longshore.done f join longshore.queue l using (queue)
         where f.state = 'failed' and l.tenant = 'default' group by 1 order by 2 desc`,
      );
    const counted = async () =>
      (await groups()).groups.map(({ fingerprint, count }) => ({ fingerprint, count }));
    expect(await counted()).toEqual(await recount());
    const all = await groups();
    expect(all).toMatchObject({
      complete: true,
      groups: [
        {
          ...SLOW,
          count: 24,
          countIsExact: true,
          definitionKeys: ['a', 'b'],
          versions: [1, 3],
        },
        { ...GONE, count: 10, definitionKeys: ['a'], versions: [1] },
      ],
    });
    const parts = [new Date(0), new Date(Date.now() - 86_400_000), new Date('2100-01-01')];
    const trends = (await groups({ parts })).groups.map(({ trend, definitions }) => [
      trend,
      definitions.map((share) => [share.definitionKey, share.trend]),
    ]);
    expect(trends).toEqual([
      [
        [0, 24, 0],
        [
          ['a', [0, 20, 0]],
          ['b', [0, 4, 0]],
        ],
      ],
      [[0, 10, 0], [['a', [0, 10, 0]]]],
    ]);
    const [slow] = all.groups;
    expect((slow?.firstSeen ?? '') <= (slow?.lastSeen ?? '')).toBe(true);
    expect((await groups({ definitionKey: 'b' })).groups).toMatchObject([{ count: 4 }]);
    expect((await groups({ errorCode: 'NOT_FOUND' })).groups).toMatchObject([GONE]);
    expect((await groups({ from: new Date('2100-01-01') })).groups).toEqual([]);
    expect((await groups({ to: new Date('2100-01-01') })).groups).toHaveLength(2);

    const [first = '', second = ''] = await search({ fingerprint: GONE.fingerprint });
    await retryJob(database.db, 'default', first, { mode: 'now', runAt: null, paramsJson: null });
    await deleteJob(database.db, 'default', second);
    expect(await counted()).toEqual(await recount());
  });

  it('keep the time of their first failure when jobs are retried and fail again', async () => {
    const worker = await newWorker(database);
    const fail = async (message: string) => {
      for (const job of await claimAny(database, worker, 10)) {
        await settleAs(database, job, failure('PAYLOAD_INVALID', message));
      }
      return (await groups()).groups;
    };
    const retryAll = async () => {
      for (const id of await search({})) {
        const now = { mode: 'now', runAt: null, paramsJson: null } as const;
        await retryJob(database.db, 'default', id, now);
      }
    };
    for (let n = 0; n < 3; n += 1) await enqueueOne(database, { definitionKey: 'a' });
    const [first] = await fail('boom');
    await retryAll();
    const [again] = await fail('boom');
    expect(again).toMatchObject({ count: 3, firstSeen: first?.firstSeen });
    expect(again?.lastSeen).not.toBe(first?.lastSeen);
    // Another error of the same jobs begins now, and a window shows only what is in it.
    await retryAll();
    const [other] = await fail('something else');
    expect((other?.firstSeen ?? '') > (again?.lastSeen ?? '')).toBe(true);
    await retryAll();
    await fail('boom');
    const from = new Date(again?.lastSeen ?? 0);
    const [inWindow] = (await groups({ from: new Date(from.getTime() + 1) })).groups;
    expect((inWindow?.firstSeen ?? '') > (other?.lastSeen ?? '')).toBe(true);
  });

  it('show when not all of them were counted, or not all groups listed', async () => {
    await manyDeadLetters(database, { key: 'a', count: 30, mistakes: [SLOW, GONE, BROKEN] });
    const [bounded] = (await groups({}, { countMax: 4 })).groups;
    expect(bounded).toMatchObject({ count: 4, countIsExact: false });
    expect(await groups({ limit: 2 })).toMatchObject({ complete: false });
    const few = await groups({}, { groupsMax: 2 });
    expect([few.complete, few.groups.length]).toEqual([false, 2]);
    expect((await groups({}, { groupsMax: 3 })).complete).toBe(true);
  });

  it('are found by their code at once, behind any number of other jobs', async () => {
    await manyDeadLetters(database, { key: 'a', count: 30, mistakes: [BROKEN] });
    await manyDeadLetters(database, { key: 'a', count: 4_000, mistakes: [SLOW] });
    const filter = { tenant: 'default', newestFirst: true, afterId: null, limit: 20 };
    const asked = { ...filter, errorCode: BROKEN.code };
    const { jobs, nextId } = await listJobs(database.db, asked);
    expect(jobs.map(({ error }) => error?.code)).toEqual(
      Array.from({ length: 20 }, () => BROKEN.code),
    );
    const rest = await listJobs(database.db, { ...asked, afterId: nextId });
    expect([rest.jobs.length, rest.nextId]).toEqual([10, null]);
    const failed = await listJobs(database.db, { ...asked, statuses: ['failed'] });
    expect(failed.jobs).toHaveLength(20);
  });

  it('are part of the list of jobs, which knows codes, times and texts as well', async () => {
    await manyDeadLetters(database, { key: 'a', count: 1_300, mistakes: [SLOW, GONE] });
    await enqueueOne(database, { definitionKey: 'a', paramsJson: '{"text":"ORDER is gone too"}' });
    await enqueueOne(database, { definitionKey: 'a', runAt: new Date('2100-01-01') });
    const list = async (changes: object) => {
      const ids: string[] = [];
      let afterId: string | null = null;
      do {
        const filter = { tenant: 'default', newestFirst: true, limit: 200, ...changes, afterId };
        const page: Awaited<ReturnType<typeof listJobs>> = await listJobs(database.db, filter);
        ids.push(...page.jobs.map(({ jobId }) => jobId));
        afterId = page.nextId;
      } while (afterId !== null);
      expect(new Set(ids).size).toBe(ids.length);
      return ids.length;
    };
    expect(await list({})).toBe(1_302);
    expect(await list({ errorCode: 'TIMEOUT' })).toBe(650);
    expect(await list({ errorCode: 'TIMEOUT', newestFirst: false, limit: 7 })).toBe(650);
    expect(await list({ errorCode: 'TIMEOUT', statuses: ['queued'] })).toBe(0);
    expect(await list({ q: 'order is GONE' })).toBe(651);
    expect(await list({ q: 'order is gone', statuses: ['queued', 'failed'] })).toBe(651);
    expect(await list({ runAfter: new Date('2099-01-01') })).toBe(1);
    expect(
      await list({ runAfter: new Date('2099-01-01'), runBefore: new Date('2100-01-01') }),
    ).toBe(0);
    expect(await list({ finishedAfter: new Date('2100-01-01') })).toBe(0);
    expect(await list({ finishedBefore: new Date('2100-01-01') })).toBe(1_300);

    // A common tag is met by the walk; a rare one, here on the oldest job, is found by its index.
    await database.sql(`update longshore.job j set tags = array[
        case when n = 1 then 'rare' when n % 2 = 0 then 'common' else 'other' end]
      from (select id, row_number() over (order by id) as n from longshore.job) o
      where o.id = j.id`);
    expect(await list({ tag: 'common' })).toBe(651);
    expect(await list({ tag: 'common', newestFirst: false, limit: 7 })).toBe(651);
    expect(await list({ tag: 'rare' })).toBe(1);
    expect(await list({ tag: 'rare', statuses: ['failed'] })).toBe(1);
    expect(await list({ tag: 'rare', statuses: ['queued', 'scheduled'] })).toBe(0);
    expect(await list({ tag: 'common', statuses: ['failed'], errorCode: 'TIMEOUT' })).toBe(
      await list({ errorCode: 'TIMEOUT', tag: 'common' }),
    );
  });
});
