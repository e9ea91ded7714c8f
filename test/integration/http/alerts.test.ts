import type { FastifyInstance } from 'fastify';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type AlertView, RETRY_RATE_MIN } from '../../../src/core/views/alert.ts';
import { parseAlertDefaults } from '../../../src/core/views/alert-rules.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { alertWatch } from '../../../src/scheduler/alert-watch.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { pruneAlerts } from '../../../src/store/counters/fire-alerts.ts';
import { rollUpCounters } from '../../../src/store/counters/roll-up.ts';
import { pause, resume } from '../../../src/store/limits/pauses.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { doorOf, knock, newKey, newTenant } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { fallBehind, newSchedule, tick } from '../../support/schedules.ts';
import { until } from '../../support/until.ts';
import { deliveriesOf, newWebhook } from '../../support/webhooks.ts';

let database: TestDatabase;
let app: FastifyInstance;
let key: string;

beforeAll(async () => {
  database = await testDatabase();
  app = doorOf(database);
  ({ key } = await newKey(database, 'default', 'admin'));
});
afterAll(async () => {
  await app.close();
  await database.close();
});
afterEach(async () => {
  // All of it in one go; the guards would rightly object to jobs that vanish.
  const tables = 'waiting running done attempt schedule slot alert alert_rule webhook worker';
  const emptied = tables.split(' ').map((table) => `delete from longshore.${table};`);
  await database.sql(`set session_replication_role = replica; ${emptied.join(' ')}
    set session_replication_role = default`);
});

/** One round of a scheduler that believes that it is the one. */
async function look(config = 'vacuum=off', db = database.db): Promise<void> {
  const defaults = parseAlertDefaults(config);
  if (!defaults) throw new Error(config);
  const round = alertWatch({ db, clock: systemClock, log: silentLog, defaults });
  await round.start();
  await round.stop();
}

const alerts = async (query = '', by = key): Promise<AlertView[]> => {
  const { status, body } = await knock(app, by, 'GET', `/v1/alerts${query}`);
  expect(status).toBe(200);
  return body['alerts'] as AlertView[];
};

const told = async () =>
  (await alerts()).map(({ rule, definitionKey, status }) => `${rule} ${definitionKey} ${status}`);

const longAgo = async (table: 'waiting' | 'running', column: string) =>
  await database.sql(`update longshore.${table} set ${column} = now() - interval '50 min'`);

/** As if nobody had found anything wrong for a while, if nobody finds it now. */
const laterOn = async () =>
  await database.sql(`update longshore.alert set seen_at = seen_at - interval '61 s'`);

async function fail(count: number, code: string, definitionKey = 'poison'): Promise<void> {
  const worker = await newWorker(database);
  for (let n = 0; n < count; n += 1) {
    await enqueueOne(database, { definitionKey });
    const [job] = await claimAny(database, worker, 1);
    await settleAs(database, job!, failure(code));
  }
}

describe('a rule', () => {
  it('counts dead letters of a definition within the window', async () => {
    await fail(2, 'NOT_FOUND');
    await look('dead-letters=3');
    expect(await alerts()).toEqual([]);
    await fail(1, 'NOT_FOUND');
    await fail(2, 'NOT_FOUND', 'other');
    await look('dead-letters=3');
    expect(await alerts()).toEqual([
      expect.objectContaining({
        rule: 'dead-letters',
        status: 'firing',
        definitionKey: 'poison',
        tenant: 'default',
        value: 3,
        threshold: 3,
        unit: 'jobs',
        jobId: expect.any(String) as string,
        message: '3 jobs of poison failed for good within 1h (threshold 3)',
      }),
    ]);
    await database.sql(`update longshore.done set finished_at = now() - interval '2 h'`);
    await laterOn();
    await look('dead-letters=3');
    expect(await told()).toEqual(['dead-letters poison resolved']);
  });

  it('counts retries', async () => {
    await fail(2, 'TIMEOUT', 'flaky');
    await look('retries=3');
    expect(await alerts()).toEqual([]);
    await look('retries=2');
    expect(await told()).toEqual(['retries flaky firing']);
  });

  it('knows the share of retries among all attempts', async () => {
    await fail(RETRY_RATE_MIN, 'TIMEOUT', 'shaky');
    const worker = await newWorker(database);
    for (let n = 0; n < 5; n += 1) {
      await enqueueOne(database, { definitionKey: 'shaky' });
      const [job] = await claimAny(database, worker, 1);
      await settleAs(database, job!, SUCCESS);
    }
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).folded > 0);
    await look('retry-rate=81');
    expect(await alerts()).toEqual([]);
    await look('retry-rate=80');
    expect(await alerts()).toMatchObject([
      { rule: 'retry-rate', definitionKey: 'shaky', value: 80, unit: 'percent' },
    ]);
  });

  it('finds jobs that are stuck, by their timeout or by the lease of their worker', async () => {
    const worker = await newWorker(database);
    await enqueueOne(database, { definitionKey: 'slow' });
    await enqueueOne(database, { definitionKey: 'slow', policy: { timeoutMs: 7_200_000 } });
    await claimAny(database, worker, 2);
    await look();
    expect(await alerts()).toEqual([]);
    await longAgo('running', 'started_at');
    await look();
    const [alert] = await alerts();
    expect(alert).toMatchObject({ rule: 'stuck', definitionKey: 'slow', value: 1 });
    expect(alert?.message).toBe('1 running job of slow is stuck: it has used 83 % of its timeout');
    await database.sql(`update longshore.worker set lease_until = now() - interval '2 min'`);
    await look();
    expect(await alerts()).toMatchObject([{ id: alert?.id, value: 2 }]);
  });

  it('finds levels that stand still, unless they are paused, and whether a worker serves them', async () => {
    const worker = await newWorker(database);
    await enqueueOne(database, { definitionKey: 'served' });
    await enqueueOne(database, { definitionKey: 'orphan', priority: 5 });
    await enqueueOne(database, { definitionKey: 'paused' });
    await look();
    expect(await alerts()).toEqual([]);
    await longAgo('waiting', 'queued_at');
    await enqueueOne(database, { definitionKey: 'orphan' });
    await database.sql(
      `update longshore.worker set definitions = '{served@1}' where instance = $1`,
      [worker],
    );
    await pause(database.db, { scope: 'definition', name: 'paused' }, null, null);
    onTestFinished(async () => {
      await resume(database.db, { scope: 'definition', name: 'paused' });
    });
    await look();
    expect((await told()).sort()).toEqual([
      'no-worker orphan firing',
      'oldest-age orphan firing',
      'oldest-age served firing',
    ]);
  });

  it('finds missed slots and overdue schedules', async () => {
    const hour = 3_600_000;
    const missed = await newSchedule(database, { catchUp: 'none', definitionKey: 'nightly' });
    await fallBehind(database, missed, 3 * hour, hour);
    await tick(database);
    const late = await newSchedule(database, { definitionKey: 'late' });
    await fallBehind(database, late, hour, hour);
    await look('vacuum=off,schedule-missed=1/7200');
    const found = (await alerts()).map(({ rule, scheduleId }) => `${rule} ${scheduleId}`);
    expect(new Set(found)).toEqual(
      new Set([`schedule-missed ${late}`, `schedule-missed ${missed}`]),
    );
  });

  it('finds what holds back vacuum, and shows it to the host tenant only', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(async () => await client.end());
    await client.query('begin isolation level repeatable read');
    await client.query('select 1 from longshore.setting');
    await newTenant(database, 'acme');
    const { key: acme } = await newKey(database, 'acme', 'admin');
    const [alert] = await until('it fires', async () => {
      await look('vacuum=1');
      const found = await alerts('?rule=vacuum');
      return found.length > 0 && found;
    });
    expect(alert?.message).toContain('has kept vacuum from removing dead rows');
    expect(await alerts('', acme)).toEqual([]);
  });
});

describe('an alert', () => {
  it('fires once and is resolved once with concurrent schedulers', async () => {
    const wishes = { events: ['alert.fired', 'alert.resolved'] } as const;
    const webhook = await newWebhook(database, { events: [...wishes.events] });
    const other = await newWebhook(database, {
      events: [...wishes.events],
      definitionKeys: ['other'],
    });
    const others = [1, 2, 3, 4].map(() =>
      Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 2 }),
    );
    onTestFinished(async () => {
      for (const db of others) await db.close();
    });
    const allLook = async () =>
      await Promise.all(others.map(async (db) => await look('vacuum=off,dead-letters=1', db)));

    await fail(1, 'NOT_FOUND');
    await allLook();
    await allLook();
    expect(await told()).toEqual(['dead-letters poison firing']);
    // Nobody sees it for a while, but it is still so: nothing is resolved.
    await laterOn();
    await allLook();
    expect(await told()).toEqual(['dead-letters poison firing']);

    await database.sql(`update longshore.done set finished_at = now() - interval '2 h'`);
    await allLook();
    expect(await told()).toEqual(['dead-letters poison firing']);
    await laterOn();
    await allLook();
    expect(await told()).toEqual(['dead-letters poison resolved']);

    await fail(1, 'NOT_FOUND');
    await allLook();
    expect(await told()).toEqual(['dead-letters poison firing', 'dead-letters poison resolved']);
    const made = await deliveriesOf(database, webhook);
    expect(made.map(({ event }) => event)).toEqual([
      'alert.fired',
      'alert.resolved',
      'alert.fired',
    ]);
    const [again, first] = await alerts();
    expect(made[1]?.params['alert']).toEqual(first);
    expect(made[2]?.params['alert']).toEqual(again);
    expect(await deliveriesOf(database, other)).toEqual([]);
  });

  it('is paged through, found by what it is about, and forgotten in time', async () => {
    await fail(1, 'NOT_FOUND', 'a');
    await fail(1, 'NOT_FOUND', 'b');
    await look('vacuum=off,dead-letters=1');
    const first = await knock(app, key, 'GET', '/v1/alerts?limit=1');
    const cursor = String(first.body['nextCursor']);
    expect(first.headers['link']).toContain(`cursor=${cursor}`);
    const second = await knock(app, key, 'GET', `/v1/alerts?limit=1&cursor=${cursor}`);
    expect(second.body['nextCursor']).toBeNull();
    const [one, two] = await alerts();
    expect([first.body['alerts'], second.body['alerts']]).toEqual([[one], [two]]);
    expect(await alerts('?definitionKey=a&status=firing&rule=dead-letters')).toHaveLength(1);
    expect(await alerts('?status=resolved')).toEqual([]);
    await database.sql(
      `update longshore.alert set resolved_at = now() - interval '8 d' where definition_key = 'a'`,
    );
    expect(await pruneAlerts(database.db, 7, 10)).toBe(1);
    expect(await told()).toEqual(['dead-letters b firing']);
  });
});

describe('/v1/alerts/rules', () => {
  const rulesOf = async (by = key) =>
    (await knock(app, by, 'GET', '/v1/alerts/rules')).body['rules'] as Record<string, unknown>[];
  const put = async (rule: string, payload: unknown, by = key) =>
    await knock(app, by, 'PUT', `/v1/alerts/rules/${rule}`, { payload });

  it('shows what holds, and a change holds from the next look on', async () => {
    await look('dead-letters=7');
    expect(await rulesOf()).toHaveLength(8);
    expect((await rulesOf())[0]).toMatchObject({ threshold: 7, source: 'config', enabled: true });
    const change = { definitionKey: 'poison', threshold: 2, windowSeconds: 60 };
    const { status, body } = await put('dead-letters', change);
    expect([status, body]).toEqual([200, expect.objectContaining({ ...change, source: 'api' })]);
    await fail(2, 'NOT_FOUND');
    await look('dead-letters=7');
    expect(await told()).toEqual(['dead-letters poison firing']);
    // Switched off, it is resolved like what is over.
    await put('dead-letters', { definitionKey: 'poison', enabled: false });
    await laterOn();
    await look('dead-letters=1');
    expect(await told()).toEqual(['dead-letters poison resolved']);
    const path = '/v1/alerts/rules/dead-letters?definitionKey=poison';
    expect((await knock(app, key, 'DELETE', path)).status).toBe(204);
    expect((await knock(app, key, 'DELETE', path)).status).toBe(404);
    await look('dead-letters=1');
    expect(await told()).toContain('dead-letters poison firing');
    const audit = await knock(app, key, 'GET', '/v1/audit?subject=dead-letters:poison');
    const actions = (audit.body['entries'] as { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(['alert-rule.delete', 'alert-rule.save', 'alert-rule.save']);
  });

  it('is of one tenant, and what is about the server is not for others', async () => {
    await newTenant(database, 'tenant-b');
    const { key: other } = await newKey(database, 'tenant-b', 'admin');
    await put('dead-letters', { threshold: 1 }, other);
    await fail(1, 'NOT_FOUND');
    await look();
    expect(await alerts()).toEqual([]);
    expect((await rulesOf())[0]).toMatchObject({ threshold: 10 });
    expect(await rulesOf(other)).toHaveLength(7);
    expect((await put('vacuum', { threshold: 1 }, other)).status).toBe(404);
  });

  it.each([
    ['dead-leters', {}, 404, 'did you mean "dead-letters"?'],
    ['vacuum', { definitionKey: 'a' }, 400, '/definitionKey: vacuum concerns the database'],
    ['vacuum', { windowSeconds: 60 }, 400, '/windowSeconds: vacuum has no window'],
    ['retries', { threshold: 10_001 }, 400, 'from 1 to 10000'],
    ['retries', { threshold: 0 }, 400, '/threshold'],
    ['retry-rate', { threshold: 101 }, 400, 'from 1 to 100'],
    ['retries', { treshold: 1 }, 400, 'did you mean \\"threshold\\"?'],
  ])('refuses %s %j', async (rule, payload, status, words) => {
    const answer = await put(rule, payload);
    expect(answer.status).toBe(status);
    expect(answer.text.replaceAll('\\"', '"')).toContain(words.replaceAll('\\"', '"'));
  });
});
