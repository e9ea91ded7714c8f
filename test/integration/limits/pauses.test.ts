import { beforeEach, describe, expect, it } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import { hookKey } from '../../../src/core/definition/hooks.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { servedQueues } from '../../../src/store/enqueue/queues.ts';
import { listPauses, pause, type PauseTarget, resume } from '../../../src/store/limits/pauses.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { type AuditFilter, listAudit } from '../../../src/store/access/audit.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { clearFlow, publish, take } from '../../support/limits.ts';
import { claimAny, enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { workerOn, jobEnded } from '../../support/servers/worker.ts';

const database = sharedDatabase();
let worker: string;

beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
});

const ANN = { name: 'ann', address: null };
const ANY_ENTRY: AuditFilter = {
  tenant: 'default',
  actor: null,
  action: null,
  subject: null,
  text: null,
  after: null,
  before: null,
  afterId: null,
  limit: 10,
};
const ALL = { scope: 'all' } as const;
const hello = { scope: 'definition', name: 'hello' } as const;
const stop = async (target: PauseTarget) => await pause(database.db, target, ANN, 'a fire');

/** Which jobs can be had, by every statement that claims. */
const claimable = async () => {
  const [first, ...rest] = await claimAny(database, worker, 10);
  const limited = await take(database, worker, 10);
  const queues = await database.sql<{ queue: number }>('select queue from longshore.queue');
  const levels = queues.map(({ queue }) => ({ queue, rank: 0, floor: 0, attempts: 3 }));
  const turn = { settlements: [], limit: 10, instance: worker, levels };
  const { jobs } = await settleAndClaim(database.db, 0, turn);
  return [...(first ? [first] : []), ...rest, ...limited, ...jobs].map(({ id }) => id);
};

describe('a pause', () => {
  it.each<[PauseTarget, string[]]>([
    [ALL, []],
    [{ scope: 'tenant', name: 'a' }, ['b hello', 'b other']],
    [hello, ['a other', 'b other']],
  ])('of %j leaves the others alone', async (target, left) => {
    const names = new Map<string, string>();
    for (const tenant of ['a', 'b']) {
      for (const definitionKey of ['hello', 'other']) {
        const id = await enqueueOne(database, { tenant, definitionKey });
        names.set(id, `${tenant} ${definitionKey}`);
      }
    }
    await stop(target);
    for (const [id, name] of names) {
      const [tenant = ''] = name.split(' ');
      const codes = (await getJob(database.db, tenant, id))?.warnings.map(({ code }) => code);
      expect(codes).toEqual(left.includes(name) ? [] : ['PAUSED']);
    }
    const free = new Set((await claimable()).map((id) => names.get(id)));
    expect(free).toEqual(new Set(left));
    await resume(database.db, target);
    expect(await claimable()).toHaveLength(4 - left.length);
  });

  it('lets running jobs finish, takes in new ones, and holds where something is limited', async () => {
    await publish(database, 'hello', { concurrencyLimit: 5 });
    await enqueueOne(database);
    const [running] = await take(database, worker, 1);
    await stop(hello);
    await enqueueOne(database);
    expect(await claimable()).toEqual([]);
    if (running) expect(await settleAs(database, running, SUCCESS)).toHaveLength(1);
    await resume(database.db, hello);
    expect(await claimable()).toHaveLength(1);
  });

  it('holds for queues that are made later', async () => {
    await stop({ scope: 'definition', name: 'new' });
    await stop({ scope: 'tenant', name: 'new' });
    await enqueueOne(database, { definitionKey: 'new' });
    await enqueueOne(database, { tenant: 'new' });
    expect(await claimable()).toEqual([]);
  });

  it('of a definition is none of its hooks, of everything it is', async () => {
    const hooked = defineJob({ key: 'hooked', run: () => null, onEnd: () => undefined });
    await publishDefinitions(database.db, [hooked.info]);
    await enqueueOne(database, { definitionKey: 'hooked' });
    const [job] = await claimAny(database, worker, 1);
    await stop({ scope: 'definition', name: 'hooked' });
    if (job) await settleAs(database, job, SUCCESS);
    const served = async () =>
      (await servedQueues(database.db, 0, [{ key: hookKey('hooked'), version: 1 }])).length;
    expect(await served()).toBe(1);
    await stop(ALL);
    expect(await served()).toBe(0);
    await resume(database.db, ALL);
    expect(await claimable()).toHaveLength(1);
  });

  it('has an actor and a reason; a second reason changes these, but not its start', async () => {
    const charge = { scope: 'definition', name: 'charge' } as const;
    const bob = { name: 'bob', address: null };
    const first = await pause(database.db, charge, ANN, 'a fire');
    expect(first).toMatchObject({ pause: { by: 'ann', reason: 'a fire' }, before: null });
    const second = await pause(database.db, charge, bob, null);
    expect(second).toEqual({ pause: first.pause, before: first.pause });
    const third = await pause(database.db, charge, bob, 'a flood');
    const flooded = { ...first.pause, by: 'bob', reason: 'a flood' };
    expect(third).toEqual({ pause: flooded, before: first.pause });
    const { entries } = await listAudit(database.db, { ...ANY_ENTRY, subject: 'charge' });
    expect(entries.map(({ actor, before, after }) => [actor, before, after])).toEqual([
      ['bob', { reason: 'a fire' }, { reason: 'a flood' }],
      ['ann', null, { reason: 'a fire' }],
    ]);
    await stop(ALL);
    expect(await listPauses(database.db)).toMatchObject([
      { scope: 'definition', name: 'charge', by: 'bob' },
      { scope: 'all', name: '', by: 'ann', reason: 'a fire' },
    ]);
  });

  it('ends when the last reason is gone, and resuming twice changes nothing', async () => {
    await enqueueOne(database);
    await stop(hello);
    await stop(ALL);
    expect(await resume(database.db, hello)).toMatchObject({ by: 'ann' });
    expect(await claimable()).toEqual([]);
    expect(await resume(database.db, hello)).toBeNull();
    await resume(database.db, ALL);
    expect(await claimable()).toHaveLength(1);
  });
});

it('a worker gets a hint at the end of a pause, without a poll', async () => {
  const quick = defineJob({ key: 'quick', isolation: 'inline', run: () => 'done' });
  // It looks for work by itself once in ten minutes.
  const { worker: running, stop: end } = workerOn(database, { jobs: [quick], pollMs: 600_000 });
  await running.start();
  try {
    const first = await enqueueOne(database, { definitionKey: 'quick' });
    await jobEnded(database, first);
    await stop(ALL);
    const second = await enqueueOne(database, { definitionKey: 'quick' });
    await resume(database.db, ALL);
    expect(await jobEnded(database, second)).toMatchObject({ result: 'done' });
  } finally {
    await end();
  }
});
