import { expect, it } from 'vitest';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { spawnChildren } from '../../../src/store/edges/spawn-children.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { claimAny, failure, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { reachOwned } from '../../support/checks/reach-state.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';

/**
 * A child ends at the moment in which its parent begins to wait, or two children end at the same moment.
 * Neither transaction sees the other, so each could leave the parent to the other: it would wait for
 * ever.
 */
const database = sharedDatabase();

const AWAITS = { kind: 'suspended', children: true } as const;
const statusOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;
const resolve = async (db: Queryable = database.db) => await resolveEnded(db, 0, 100);

const spawn = async (db: Queryable, { id, claim }: ClaimedJob, ...names: string[]) => {
  const wanted = [];
  for (const name of names) {
    const entry = await database.enqueuer.prepare(request({ definitionKey: `child ${name}` }));
    wanted.push({ name, asked: 'asked', entry });
  }
  return await spawnChildren(db, { shard: 0, id, claim }, wanted);
};
const spawned = async (parent: ClaimedJob, ...names: string[]) => {
  const made = await database.db.transaction(async (tx) => await spawn(tx, parent, ...names));
  return (made?.children ?? []).map(({ id }) => id);
};
/** The claims of these children. */
const claimed = async (ids: readonly string[]) => {
  const jobs = await claimAny(database, await newWorker(database), 100);
  return ids.map((id) => {
    const job = jobs.find((one) => one.id === id);
    if (!job) throw new Error(`${id} was not claimed`);
    return job;
  });
};

it('a parent that begins to wait while the end of its child is noted goes on', async () => {
  const { id, job } = await reachOwned(database);
  const [child] = await claimed(await spawned(job, 'a'));
  if (!child) throw new Error('no child');
  await settleAs(database, child, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  const waiting = settleAs(database, job, AWAITS);
  await untilBlocked(database);
  await link.commit();
  expect((await waiting)[0]?.levels).toHaveLength(1);
  expect(await statusOf(id)).toBe('queued');
});

it('the end of a child that is noted while its parent begins to wait moves it on', async () => {
  const { id, job } = await reachOwned(database);
  const [child] = await claimed(await spawned(job, 'a'));
  if (!child) throw new Error('no child');
  const link = await HeldLink.begin(database);
  await settleAs({ db: link }, job, AWAITS);
  await settleAs(database, child, failure('NON_RETRYABLE'));
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  expect((await resolving).levels).toHaveLength(1);
  expect(await statusOf(id)).toBe('queued');
});

it('two resolvers that each see one of two children end move the parent once', async () => {
  const { id, job } = await reachOwned(database);
  const [one, two] = await claimed(await spawned(job, 'a', 'b'));
  if (!one || !two) throw new Error('no children');
  await settleAs(database, job, AWAITS);
  await settleAs(database, one, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  await settleAs(database, two, SUCCESS);
  const second = resolve();
  await untilBlocked(database);
  expect(await statusOf(id)).toBe('suspended');
  await link.commit();
  expect((await second).levels).toHaveLength(1);
  expect(await statusOf(id)).toBe('queued');
});

it('two calls for the same child store it once', async () => {
  const { id, job } = await reachOwned(database);
  const link = await HeldLink.begin(database);
  const first = await spawn(link, job, 'a');
  const second = spawned(job, 'a', 'b');
  await untilBlocked(database);
  await link.commit();
  const [again] = await second;
  expect(again).toBe(first?.children[0]?.id);
  const edges = await database.sql<{ name: string; position: number }>(
    'select name, position from longshore.edge where job_id = $1 order by position',
    [id],
  );
  expect(edges).toEqual([
    { name: 'a', position: 0 },
    { name: 'b', position: 1 },
  ]);
});

it('a claim that ends while it spawns has its children, and one that has ended has none', async () => {
  const { id, job } = await reachOwned(database);
  const link = await HeldLink.begin(database);
  await spawn(link, job, 'a');
  const settling = settleAs(database, job, { kind: 'lost', message: 'gone' });
  await untilBlocked(database);
  await link.commit();
  await settling;
  expect(await spawned(job, 'b')).toEqual([]);
  const edges = await database.sql('select name from longshore.edge where job_id = $1', [id]);
  expect(edges).toEqual([{ name: 'a' }]);
});

it('a child that is retried while its parent begins to wait is waited for', async () => {
  const { id, job } = await reachOwned(database);
  const [child] = await claimed(await spawned(job, 'a'));
  if (!child) throw new Error('no child');
  await settleAs(database, child, failure('NON_RETRYABLE'));
  await resolve();
  const link = await HeldLink.begin(database);
  const again = { mode: 'now', runAt: null, paramsJson: null } as const;
  expect(await retryJob(link, 'default', child.id, again)).toMatchObject({ kind: 'changed' });
  const waiting = settleAs(database, job, AWAITS);
  await untilBlocked(database);
  await link.commit();
  await waiting;
  expect(await statusOf(id)).toBe('suspended');
  const [retried] = await claimed([child.id]);
  if (!retried) throw new Error('no child');
  await settleAs(database, retried, SUCCESS);
  await resolve();
  expect(await statusOf(id)).toBe('queued');
});
