import { Client } from 'pg';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type AlertView, RETRY_RATE_MIN } from '../../../src/core/alert/alert.ts';
import { parseAlertDefaults } from '../../../src/core/alert/alert-rules.ts';
import { bucketOf } from '../../../src/core/series/histogram.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { CANARY_JUDGE } from '../../../src/core/deployment/canary.ts';
import { alertWatch } from '../../../src/scheduler/alert-watch.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { pruneAlerts } from '../../../src/store/alerts/fire-alerts.ts';
import { endCanary } from '../../../src/store/deployments/releases.ts';
import { forgetCounters, rollUpCounters } from '../../../src/store/counters/roll-up.ts';
import { pause, resume } from '../../../src/store/limits/pauses.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { newDeployment, release } from '../../support/deployments.ts';
import { fallBehind, newSchedule, tick } from '../../support/schedules.ts';
import { until } from '../../support/until.ts';
import { deliveriesOf, newWebhook } from '../../support/webhooks.ts';

const database = sharedDatabase();
const app = sharedServer(database);
let key: string;

beforeAll(async () => {
  ({ key } = await newKey(database, 'default', 'admin'));
});
afterEach(async () => {
  // All of it in one go; the guards would rightly object to jobs that vanish.
  const tables =
    'waiting running done attempt schedule slot alert alert_rule webhook worker counter ' +
    'counter_delta counter_span counter_hour';
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
  const { status, body } = await callAs(app, by, 'GET', `/v1/alerts${query}`);
  expect(status).toBe(200);
  return body['alerts'] as AlertView[];
};

const alertLines = async () =>
  (await alerts()).map(({ rule, definitionKey, status }) => `${rule} ${definitionKey} ${status}`);

const longAgo = async (table: 'waiting' | 'running', column: string) =>
  await database.sql(`update longshore.${table} set ${column} = now() - interval '50 min'`);

/** As if no round had found a problem for a while, unless this one does. */
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
    expect(await alertLines()).toEqual(['dead-letters poison resolved']);
  });

  it('reports a canary that stopped itself, until the next release', async () => {
    const stable = await newDeployment(database, ['ship']);
    await release(database, stable, ['ship']);
    const canary = await newDeployment(database, ['ship']);
    await release(database, canary, ['ship'], 5);
    await look();
    expect(await alerts()).toEqual([]);
    const by = { name: CANARY_JUDGE, address: null };
    await endCanary(database.db, by, 'default', canary, `deployment ${canary}: 9 of 9 failed`);
    await look();
    expect(await alerts()).toEqual([
      expect.objectContaining({
        rule: 'canary-stopped',
        status: 'firing',
        definitionKey: 'ship',
        unit: 'canaries',
        message: `1 canary of ship stopped itself within 1h: deployment ${canary}: 9 of 9 failed`,
      }),
    ]);
    const next = await newDeployment(database, ['ship']);
    await release(database, next, ['ship']);
    await laterOn();
    await look();
    expect(await alertLines()).toEqual(['canary-stopped ship resolved']);
  });

  it('counts retries', async () => {
    await fail(2, 'TIMEOUT', 'flaky');
    await look('retries=3');
    expect(await alerts()).toEqual([]);
    await look('retries=2');
    expect(await alertLines()).toEqual(['retries flaky firing']);
  });

  it('knows the share of retries among all attempts', async () => {
    await fail(RETRY_RATE_MIN, 'TIMEOUT', 'shaky');
    const worker = await newWorker(database);
    for (let n = 0; n < 5; n += 1) {
      await enqueueOne(database, { definitionKey: 'shaky' });
      const [job] = await claimAny(database, worker, 1);
      await settleAs(database, job!, SUCCESS);
    }
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).rows > 0);
    await look('retry-rate=81');
    expect(await alerts()).toEqual([]);
    await look('retry-rate=80');
    expect(await alerts()).toMatchObject([
      { rule: 'retry-rate', definitionKey: 'shaky', value: 80, unit: 'percent' },
    ]);
  });

  it('counts the dead letters that a definition has, however old', async () => {
    await fail(3, 'NOT_FOUND');
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).rows > 0);
    await database.sql(`update longshore.done set finished_at = now() - interval '9 days'`);
    await look('dead-letter-size=4');
    expect(await alerts()).toEqual([]);
    await look('dead-letter-size=3');
    expect(await alerts()).toMatchObject([
      {
        rule: 'dead-letter-size',
        definitionKey: 'poison',
        value: 3,
        message: 'poison has 3 dead letters (threshold 3)',
      },
    ]);
    const { jobs } = (await callAs(app, key, 'GET', '/v1/jobs?definitionKey=poison')).body;
    for (const { jobId } of jobs as { jobId: string }[]) {
      await callAs(app, key, 'DELETE', `/v1/jobs/${jobId}`);
    }
    while ((await rollUpCounters(database.db, 0, '-infinity', 1_000)).rows > 0);
    await laterOn();
    await look('dead-letter-size=3');
    expect(await alertLines()).toEqual(['dead-letter-size poison resolved']);
  });

  /** So many times of a bucket, as the counters have them, `ago` before now. */
  const plantTimes = async (state: string, bucket: number, n: number, ago = '0 s') =>
    await database.sql(
      `insert into longshore.counter_span (shard, queue, slot, state, bucket, n, ms)
       select 0, queue, date_bin('15 minutes', now() - $4::interval, timestamptz '2000-01-01'),
         $1::longshore.job_state, $2, $3, 0
       from longshore.queue where key = 'report' and version = 1`,
      [state, bucket, n, ago],
    );

  it('measures how long jobs waited and ran, against a bound', async () => {
    await enqueueOne(database, { definitionKey: 'report' });
    await plantTimes('running', bucketOf(6_000), 40);
    await plantTimes('succeeded', bucketOf(70_000), 30);
    await plantTimes('retrying', bucketOf(70_000), 10);
    await plantTimes('succeeded', bucketOf(500_000), 30, '3 hours');
    await look();
    expect(await alerts()).toEqual([]);
    await look('wait-p95=6600,run-p95=118000');
    expect(await alerts()).toEqual([]);
    await look('wait-p95=6600,run-p95=60000,wait-growth=100,run-growth=100');
    expect((await alerts()).map(({ message }) => message)).toEqual([
      '95 % of the attempts of report ran up to 1m05s within 1h (threshold 1m)',
    ]);
    // A threshold switches it on, for one definition.
    await callAs(app, key, 'PUT', '/v1/alerts/rules/wait-p95', {
      payload: { definitionKey: 'report', threshold: 6_000, severity: 'critical' },
    });
    await look();
    expect(await alerts('?rule=wait-p95')).toMatchObject([
      { value: 6_484, unit: 'milliseconds', threshold: 6_000, severity: 'critical' },
    ]);
  });

  it('compares times with the same hours a week ago', async () => {
    await enqueueOne(database, { definitionKey: 'report' });
    await plantTimes('succeeded', bucketOf(1_500), 50, '7 days');
    await plantTimes('succeeded', bucketOf(7_000_000), 50, '7 days 5 hours');
    await plantTimes('running', bucketOf(1_500), 19, '7 days');
    await forgetCounters(database.db, 0);
    await plantTimes('succeeded', bucketOf(20_000), 50);
    await plantTimes('running', bucketOf(20_000), 50);
    await look('run-growth=1400,wait-growth=100');
    expect(await alerts()).toEqual([]);
    await look('run-growth=1190,wait-growth=100');
    expect((await alerts()).map(({ message }) => message)).toEqual([
      'attempts of report run 1200 % as long as a week ago (threshold 1190 %): p95 18.9 s, then 1.5 s',
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

  it('counts the age of a waiting job from the resume, not while it was paused', async () => {
    await enqueueOne(database, { definitionKey: 'held' });
    await pause(database.db, { scope: 'definition', name: 'held' }, null, null);
    await longAgo('waiting', 'queued_at');
    await resume(database.db, { scope: 'definition', name: 'held' });
    await look('oldest-age=60,unserved=60');
    expect(await alerts()).toEqual([]);
    await database.sql(`update longshore.queue set resumed_at = now() - interval '10 min'`);
    await look('oldest-age=60,unserved=60');
    expect((await alerts()).map(({ rule, value }) => [rule, Math.round(value / 60)])).toEqual(
      expect.arrayContaining([['unserved', 10]]),
    );
  });

  it('keeps the alert of a job without a worker in a pause and after it, until the job is gone', async () => {
    await enqueueOne(database, { definitionKey: 'lost' });
    await longAgo('waiting', 'queued_at');
    await look();
    const [fired] = await alerts();
    expect(fired).toMatchObject({ rule: 'unserved', definitionKey: 'lost', status: 'firing' });
    const unchanged = [{ id: fired?.id, message: fired?.message, status: 'firing' }];
    await pause(database.db, { scope: 'all' }, null, null);
    onTestFinished(async () => {
      await resume(database.db, { scope: 'all' });
    });
    await enqueueOne(database, { definitionKey: 'new-lost' });
    await longAgo('waiting', 'queued_at');
    await laterOn();
    await look();
    expect(await alerts()).toMatchObject(unchanged);
    await resume(database.db, { scope: 'all' });
    await laterOn();
    await look();
    expect(await alerts()).toMatchObject(unchanged);
    const worker = await newWorker(database);
    await database.sql(`update longshore.worker set definitions = '{lost@1}' where instance = $1`, [
      worker,
    ]);
    await laterOn();
    await look();
    expect(await alertLines()).toEqual(['unserved lost resolved']);
  });

  it('finds webhooks that fail, and names the receiver without its path', async () => {
    const failing = await newWebhook(database, { url: 'https://shop.example/hooks/token' });
    const paused = await newWebhook(database, { url: 'https://other.example/' });
    await database.sql(
      `update longshore.webhook set failures = 9, last_error = 'no answer (X)',
      failing_since = now() - interval '10 min', status = case when id = $1 then 'paused' else status end`,
      [paused.id],
    );
    await look();
    const [alert, ...more] = await alerts('?rule=webhook-failing');
    expect(more).toEqual([]);
    expect(alert).toMatchObject({ webhookId: failing.id, definitionKey: null, unit: 'seconds' });
    expect(alert?.message).toBe(
      'a webhook has failed for 10m: https://shop.example, 9 sends in a row, no answer (X)',
    );
  });

  it('resolves the alert of a stuck job with the next check', async () => {
    await database.sql(`insert into longshore.alert (id, tenant, rule, subject, value, threshold,
        message, fired_at, seen_at)
      select gen_random_uuid(), 'default', rule, 'x', 1, 1, 'm', now(), now() - interval '15 s'
      from unnest(array['stuck', 'retries']) as rule`);
    await look();
    expect((await alerts()).map(({ rule, status }) => `${rule} ${status}`).sort()).toEqual([
      'retries firing',
      'stuck resolved',
    ]);
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
    expect((await alertLines()).sort()).toEqual([
      'oldest-age served firing',
      'unserved orphan firing',
    ]);
    await database.sql(`set session_replication_role = replica; delete from longshore.waiting;
      set session_replication_role = default;
      update longshore.alert set seen_at = seen_at - interval '10 s'`);
    await look();
    expect((await alertLines()).sort()).toEqual([
      'oldest-age served resolved',
      'unserved orphan resolved',
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

  it('finds what holds back vacuum, and shows it to the default tenant only', async () => {
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
    const subscribed = { events: ['alert.fired', 'alert.resolved'] } as const;
    const webhook = await newWebhook(database, { events: [...subscribed.events] });
    const other = await newWebhook(database, {
      events: [...subscribed.events],
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
    expect(await alertLines()).toEqual(['dead-letters poison firing']);
    // No round checks for a while, but the problem remains: nothing is resolved.
    await laterOn();
    await allLook();
    expect(await alertLines()).toEqual(['dead-letters poison firing']);

    await database.sql(`update longshore.done set finished_at = now() - interval '2 h'`);
    await allLook();
    expect(await alertLines()).toEqual(['dead-letters poison firing']);
    await laterOn();
    await allLook();
    expect(await alertLines()).toEqual(['dead-letters poison resolved']);

    await fail(1, 'NOT_FOUND');
    await allLook();
    expect(await alertLines()).toEqual([
      'dead-letters poison firing',
      'dead-letters poison resolved',
    ]);
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
    const first = await callAs(app, key, 'GET', '/v1/alerts?limit=1');
    const cursor = String(first.body['nextCursor']);
    expect(first.headers['link']).toContain(`cursor=${cursor}`);
    const second = await callAs(app, key, 'GET', `/v1/alerts?limit=1&cursor=${cursor}`);
    expect(second.body['nextCursor']).toBeNull();
    const [one, two] = await alerts();
    expect([first.body['alerts'], second.body['alerts']]).toEqual([[one], [two]]);
    expect(await alerts('?definitionKey=a&status=firing&rule=dead-letters')).toHaveLength(1);
    expect(await alerts('?status=resolved')).toEqual([]);
    await database.sql(
      `update longshore.alert set resolved_at = now() - interval '8 d' where definition_key = 'a'`,
    );
    expect(await pruneAlerts(database.db, 7, 10)).toBe(1);
    expect(await alertLines()).toEqual(['dead-letters b firing']);
  });
});

describe('/v1/alerts/rules', () => {
  const rulesOf = async (by = key) =>
    (await callAs(app, by, 'GET', '/v1/alerts/rules')).body['rules'] as Record<string, unknown>[];
  const put = async (rule: string, payload: unknown, by = key) =>
    await callAs(app, by, 'PUT', `/v1/alerts/rules/${rule}`, { payload });

  it('shows what holds, and a change holds from the next look on', async () => {
    await look('dead-letters=7');
    expect(await rulesOf()).toHaveLength(17);
    expect((await rulesOf())[0]).toMatchObject({ threshold: 7, source: 'config', enabled: true });
    const change = { definitionKey: 'poison', threshold: 2, windowSeconds: 60 };
    const { status, body } = await put('dead-letters', change);
    expect([status, body]).toEqual([200, expect.objectContaining({ ...change, source: 'api' })]);
    await fail(2, 'NOT_FOUND');
    await look('dead-letters=7');
    expect(await alertLines()).toEqual(['dead-letters poison firing']);
    // Switched off, it is resolved like what is over.
    await put('dead-letters', { definitionKey: 'poison', enabled: false });
    await laterOn();
    await look('dead-letters=1');
    expect(await alertLines()).toEqual(['dead-letters poison resolved']);
    const path = '/v1/alerts/rules/dead-letters?definitionKey=poison';
    expect((await callAs(app, key, 'DELETE', path)).status).toBe(204);
    expect((await callAs(app, key, 'DELETE', path)).status).toBe(404);
    await look('dead-letters=1');
    expect(await alertLines()).toContain('dead-letters poison firing');
    const audit = await callAs(app, key, 'GET', '/v1/audit?subject=dead-letters:poison');
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
    expect(await rulesOf(other)).toHaveLength(16);
    expect((await put('vacuum', { threshold: 1 }, other)).status).toBe(404);
  });

  it.each([
    ['dead-leters', {}, 404, 'did you mean "dead-letters"?'],
    [
      'vacuum',
      { definitionKey: 'a' },
      400,
      '/definitionKey: vacuum is not measured per definition',
    ],
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
