import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../src/core/failure/failure.ts';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES, type Outcome } from '../../../src/core/job/lifecycle.ts';
import { WEBHOOK_EVENTS, WEBHOOK_KEY } from '../../../src/core/webhook/webhook.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { listDeliveries } from '../../../src/store/webhooks/deliveries.ts';
import { failWaiting } from '../../../src/store/claim/fail-waiting.ts';
import { claimLimited } from '../../../src/store/claim/limited-claim.ts';
import { servedQueues } from '../../../src/store/enqueue/queues.ts';
import { Listener } from '../../../src/store/connection/listen.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import type { LevelHint } from '../../../src/store/connection/wake.ts';
import { changeWebhook, deleteWebhook } from '../../../src/store/webhooks/webhooks.ts';
import { postgresVersions, testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { reachOwned, reachState, type Subject } from '../../support/checks/reach-state.ts';
import { until } from '../../support/until.ts';
import { BY, deliveriesOf, newWebhook } from '../../support/webhooks.ts';

describe.each(postgresVersions())('the events of a job, on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const keyOf = ({ worker }: Subject) => `key-${worker}`;

  /** A webhook that wants to hear everything about this job, from now on. */
  const listenTo = async (subject: Subject) =>
    await newWebhook(database, { events: [...WEBHOOK_EVENTS], definitionKeys: [keyOf(subject)] });

  const events = async (webhook: { id: string }) =>
    (await deliveriesOf(database, webhook)).map(({ event }) => event);

  const MOVES: [string, Outcome, 'running' | 'cancelling', string[]][] = [
    ['succeeds', SUCCESS, 'running', ['job.finished', 'job.succeeded']],
    ['fails for good', failure('NOT_FOUND'), 'running', ['job.failed', 'job.finished']],
    ['is cancelled', failure('TIMEOUT'), 'cancelling', ['job.cancelled', 'job.finished']],
    ['will be retried', failure('TIMEOUT'), 'running', ['job.retrying']],
    ['is lost', { kind: 'lost', message: 'gone' }, 'running', []],
    ['is interrupted', { kind: 'interrupted', message: 'deploy' }, 'running', []],
    ['snoozes', { kind: 'snoozed', delayMs: 60_000 }, 'running', []],
  ];

  it.each(MOVES)('when it %s', async (_, outcome, was, expected) => {
    const subject = await reachOwned(database);
    const webhook = await listenTo(subject);
    if (was === 'cancelling') await cancelJob(database.db, 'default', subject.id);
    await settleAs(database, subject.job, outcome, was);
    expect(await events(webhook)).toEqual(expected);
    // Sent once more, it is refused and tells nothing.
    await settleAs(database, subject.job, outcome, was);
    expect(await events(webhook)).toEqual(expected);
  });

  it('when it is claimed; a plain claim leaves it to the claim with events', async () => {
    const subject = await reachState(database, 'queued');
    const webhook = await listenTo(subject);
    const levels = [{ queue: subject.queue, rank: 0, floor: 0, attempts: 3 }];
    expect(await claim(database.db, 0, 1, subject.worker, levels)).toEqual([]);
    const { jobs } = await claimLimited(database.db, 0, 1, subject.worker, levels);
    expect(jobs).toMatchObject([{ id: subject.id, limited: false }]);
    expect(await events(webhook)).toEqual(['job.started']);
  });

  it('when it succeeds; settleAndClaim leaves it to the statement with events', async () => {
    const subject = await reachOwned(database);
    const other = await reachOwned(database);
    const webhook = await listenTo(subject);
    const settlements = [subject.job, other.job].map((job) => ({
      id: job.id,
      claim: job.claim,
      was: 'running' as const,
      transition: decide({ ...DEFAULT_RULES, ...job, state: 'running' }, SUCCESS, 0),
      usage: NO_USAGE,
    }));
    const levels = [{ queue: subject.queue, rank: 0, floor: 0, attempts: 3 }];
    const next = await enqueueOne(database, { definitionKey: keyOf(subject) });
    const turn = { settlements, limit: 2, instance: subject.worker, levels };
    const { settled, jobs } = await settleAndClaim(database.db, 0, turn);
    expect([settled, jobs]).toEqual([new Set([other.id]), []]);
    expect(await events(webhook)).toEqual([]);
    await settleAs(database, subject.job, SUCCESS);
    const made = await deliveriesOf(database, webhook);
    expect(made.map(({ event, params }) => [event, params['jobId'], params['status']])).toEqual([
      ['job.finished', subject.id, 'succeeded'],
      ['job.succeeded', subject.id, 'succeeded'],
    ]);
    await cancelJob(database.db, 'default', next);
  });

  it('when it is cancelled, or fails, before it ever ran', async () => {
    const subject = await reachState(database, 'scheduled');
    const webhook = await listenTo(subject);
    await cancelJob(database.db, 'default', subject.id);
    expect(await events(webhook)).toEqual(['job.cancelled', 'job.finished']);
    const other = await reachState(database, 'queued');
    const listening = await listenTo(other);
    const error = failureOf('NO_HANDLER', 'no worker');
    const seen = { id: other.id, claim: 0, was: 'queued', expiresAt: null, error } as const;
    await failWaiting(database.db, 0, [seen]);
    expect(await events(listening)).toEqual(['job.failed', 'job.finished']);
  });

  it('with what was true at that moment', async () => {
    const subject = await reachOwned(database);
    const webhook = await newWebhook(database, {
      events: ['job.retrying'],
      definitionKeys: [keyOf(subject)],
    });
    await settleAs(database, subject.job, failure('TIMEOUT', 'too slow', 60_000));
    const [made] = await deliveriesOf(database, webhook);
    const [row] = await database.sql<{ run_at: Date }>(
      'select run_at from longshore.waiting where id = $1',
      [subject.id],
    );
    expect(made?.params).toEqual({
      webhookId: webhook.id,
      event: 'job.retrying',
      jobId: subject.id,
      at: expect.any(String) as string,
      status: 'retrying',
      attempts: 1,
      runAt: expect.any(String) as string,
      error: { code: 'TIMEOUT', message: 'too slow', stack: null, cause: null },
    });
    expect(new Date(made?.params['runAt'] as string)).toEqual(row?.run_at);
  });

  it('only to subscribed webhooks', async () => {
    const subject = await reachOwned(database);
    const key = keyOf(subject);
    await database.sql(`update longshore.job set tags = '{red,blue}' where id = $1`, [subject.id]);
    const those = {
      all: await newWebhook(database, { definitionKeys: [key] }),
      tagged: await newWebhook(database, { definitionKeys: [key], tags: ['blue', 'green'] }),
      otherTag: await newWebhook(database, { definitionKeys: [key], tags: ['green'] }),
      otherEvent: await newWebhook(database, { definitionKeys: [key], events: ['job.failed'] }),
      otherKey: await newWebhook(database, { definitionKeys: ['other'] }),
      otherTenant: await newWebhook(database, { definitionKeys: [key] }, 'acme'),
      paused: await newWebhook(database, { definitionKeys: [key] }),
      deleted: await newWebhook(database, { definitionKeys: [key] }),
    };
    await changeWebhook(database.db, BY, 'default', those.paused.id, { status: 'paused' });
    await deleteWebhook(database.db, BY, 'default', those.deleted.id);
    await settleAs(database, subject.job, SUCCESS);
    const heard = await Promise.all(
      Object.entries(those).map(async ([name, webhook]) => [name, (await events(webhook)).length]),
    );
    expect(Object.fromEntries(heard)).toEqual({
      all: 1,
      tagged: 1,
      otherTag: 0,
      otherEvent: 0,
      otherKey: 0,
      otherTenant: 0,
      paused: 0,
      deleted: 0,
    });
  });

  it('never of what the system itself does', async () => {
    const everything = await newWebhook(database, { events: [...WEBHOOK_EVENTS] }, 'quiet');
    const id = await enqueueOne(database, { tenant: 'quiet', definitionKey: 'a' });
    await cancelJob(database.db, 'quiet', id);
    const queues = await servedQueues(database.db, 0, [{ key: WEBHOOK_KEY, version: 1 }]);
    const queue = queues.find(({ tenant }) => tenant === 'quiet')?.queue ?? 0;
    const worker = await newWorker(database);
    const jobs = await claim(database.db, 0, 10, worker, [
      { queue, rank: 0, floor: 0, attempts: 3 },
    ]);
    expect(jobs).toHaveLength(2);
    for (const job of jobs) await settleAs(database, job, SUCCESS);
    expect(await events(everything)).toEqual(['job.cancelled', 'job.finished']);
  });

  it('and workers get a hint at once', async () => {
    const subject = await reachOwned(database);
    await listenTo(subject);
    const heard: LevelHint[] = [];
    let connected = false;
    const listener = new Listener({ url: database.url, log: silentLog });
    listener.add({
      onWork: (hints) => heard.push(...hints),
      onConnected: () => (connected = true),
    });
    await listener.start();
    try {
      await until('it listens', () => connected);
      await settleAs(database, subject.job, SUCCESS);
      const queues = await servedQueues(database.db, 0, [{ key: WEBHOOK_KEY, version: 1 }]);
      const queue = queues.find(({ tenant }) => tenant === 'default')?.queue;
      await until('the hint came', () => heard.some((hint) => hint.queue === queue));
    } finally {
      await listener.stop();
    }
  });
});

it('is made in the shard of its job, and listed together', async () => {
  const database = await testDatabase({ shards: 2 });
  try {
    const webhook = await newWebhook(database, {});
    const ids: string[] = [];
    for (const definitionKey of ['a', 'b', 'c', 'd']) {
      ids.push(await enqueueOne(database, { definitionKey }));
    }
    expect(new Set(ids.map(shardOfJobId))).toEqual(new Set([0, 1]));
    for (const id of ids) await cancelJob(database.db, 'default', id);
    const page = { afterId: null, limit: 3 };
    const first = await listDeliveries(database.db, 'default', webhook.id, page);
    const rest = await listDeliveries(database.db, 'default', webhook.id, {
      ...page,
      afterId: first.nextId,
    });
    const all = [...first.deliveries, ...rest.deliveries];
    expect(all.map(({ jobId }) => jobId)).toEqual(ids.toReversed());
    expect(all.map(({ id }) => shardOfJobId(id))).toEqual(ids.toReversed().map(shardOfJobId));
    expect(rest.nextId).toBeNull();
  } finally {
    await database.close();
  }
});
