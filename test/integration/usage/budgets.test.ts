import { afterEach, beforeAll, expect, it } from 'vitest';
import type { AlertView } from '../../../src/core/alert/alert.ts';
import { parseAlertDefaults } from '../../../src/core/alert/alert-rules.ts';
import { type BudgetView, BUDGETS_MAX } from '../../../src/core/usage/budget.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { alertWatch } from '../../../src/scheduler/alert-watch.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { deliveriesOf, newWebhook } from '../../support/webhooks.ts';

const database = sharedDatabase();
const app = sharedServer(database);
let key: string;
let rival: string;

beforeAll(async () => {
  ({ key } = await newKey(database, 'default', 'admin'));
  await newTenant(database, 'rival');
  ({ key: rival } = await newKey(database, 'rival', 'admin'));
});
afterEach(async () => {
  await database.sql(
    'delete from longshore.budget; delete from longshore.usage_day; delete from longshore.alert',
  );
});

const put = async (name: string, payload: object, by = key) =>
  await callAs(app, by, 'PUT', `/v1/budgets/${name}`, { payload });

const budgets = async (by = key): Promise<BudgetView[]> =>
  (await callAs(app, by, 'GET', '/v1/budgets')).body['budgets'] as BudgetView[];

interface Used {
  key?: string;
  tenant?: string;
  daysAgo?: number;
  jobs?: number;
  runMs?: number;
  cpuMs?: number;
}

/** As the roll-up writes it. */
const use = async ({ key: of = 'report', tenant = 'default', daysAgo = 0, ...sums }: Used) => {
  const { jobs = 0, runMs = 0, cpuMs = 0 } = sums;
  await database.sql(
    `insert into longshore.usage_day as t
     select 0, (now() at time zone 'UTC')::date - $1::int, $2, $3, $4, $4, $5, $6, null
     on conflict (shard, day, tenant, key) do update set jobs = t.jobs + excluded.jobs,
       run_ms = t.run_ms + excluded.run_ms, cpu_ms = t.cpu_ms + excluded.cpu_ms`,
    [daysAgo, tenant, of, jobs, runMs, cpuMs],
  );
};

/** One round of a scheduler. */
async function look(config = 'vacuum=off'): Promise<void> {
  const defaults = parseAlertDefaults(config);
  if (!defaults) throw new Error(config);
  const round = alertWatch({ db: database.db, clock: systemClock, log: silentLog, defaults });
  await round.start();
  await round.stop();
}

const alerts = async (by = key): Promise<AlertView[]> =>
  (await callAs(app, by, 'GET', '/v1/alerts')).body['alerts'] as AlertView[];
const alertLines = async (by = key) =>
  (await alerts(by)).map(({ rule, status, value }) => `${rule} ${status} ${value}`).toSorted();

const nextDay = async () =>
  await database.sql(`update longshore.usage_day set day = day - 1;
    update longshore.alert set subject = regexp_replace(subject, ' .*', ' yesterday'),
      seen_at = seen_at - interval '61 s'`);

it('shows what is used of each budget', async () => {
  await use({ jobs: 30, runMs: 5_000, cpuMs: 2_500 });
  await use({ key: 'mail', jobs: 12, runMs: 1_000, cpuMs: 500 });
  await use({ tenant: 'rival', jobs: 1_000 });
  await use({ daysAgo: 40, jobs: 1_000 });
  await put('all-jobs', { measure: 'jobs', period: 'day', amount: 84 });
  const report = { definitionKey: 'report', period: 'month' };
  await put('cpu', { ...report, measure: 'cpuSeconds', amount: 10 });
  const saved = await put('run', { ...report, measure: 'runSeconds', amount: 2 });
  expect(saved).toMatchObject({ status: 200, body: { name: 'run', used: 5, usedPercent: 250 } });
  const [day] = await database.sql<{ today: string; month: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today,
       to_char(now() at time zone 'UTC', 'YYYY-MM-01') as month`,
  );
  expect(await budgets()).toMatchObject([
    { name: 'all-jobs', definitionKey: null, used: 42, usedPercent: 50, from: day?.today },
    { name: 'cpu', definitionKey: 'report', used: 2.5, usedPercent: 25, from: day?.month },
    { name: 'run', tenant: 'default', used: 5, usedPercent: 250, runsOutAt: null },
  ]);
});

it('fires one alert at 80 % and one at 100 %, by the routes that exist, once per period', async () => {
  const webhook = await newWebhook(database, { events: ['alert.fired'] });
  await put('reports', { definitionKey: 'report', measure: 'jobs', period: 'day', amount: 10 });
  await use({ jobs: 7 });
  await look();
  expect(await alertLines()).toEqual([]);
  await use({ jobs: 1 });
  await look();
  await look();
  expect(await alertLines()).toEqual(['budget-warning firing 80']);
  const [first] = await alerts();
  expect(first).toMatchObject({ definitionKey: 'report', unit: 'percent', threshold: 80 });
  expect(first?.message).toMatch(
    /^80 % of a budget is used: reports, 8 of 10 jobs of report on .{10} \(threshold 80 %\)$/,
  );
  await use({ jobs: 5 });
  await look();
  expect(await alertLines()).toEqual(['budget-exceeded firing 130', 'budget-warning firing 130']);
  expect(await deliveriesOf(database, webhook)).toHaveLength(2);
  // The next day begins with enough use for the warning: it fires again, those of yesterday end.
  await nextDay();
  await use({ jobs: 9 });
  await look();
  expect(await alertLines()).toEqual([
    'budget-exceeded resolved 130',
    'budget-warning firing 90',
    'budget-warning resolved 130',
  ]);
  expect(await deliveriesOf(database, webhook)).toHaveLength(3);
});

it('follows the rules of alerts, for a definition and in general', async () => {
  await put('all', { measure: 'cpuSeconds', period: 'month', amount: 100 });
  await put('one', { definitionKey: 'report', measure: 'runSeconds', period: 'day', amount: 100 });
  await use({ cpuMs: 50_000, runMs: 60_000 });
  await look('vacuum=off,budget-warning=55');
  expect(await alertLines()).toEqual(['budget-warning firing 60']);
  const payload = { definitionKey: 'report', threshold: 90 };
  await callAs(app, key, 'PUT', '/v1/alerts/rules/budget-warning', { payload });
  await database.sql('delete from longshore.alert');
  await look('vacuum=off,budget-warning=50');
  expect(await alertLines()).toEqual(['budget-warning firing 50']);
  await database.sql('delete from longshore.alert; delete from longshore.alert_rule');
  await use({ cpuMs: 100_000 });
  await look('vacuum=off,budget-warning=off,budget-exceeded=off');
  expect(await alertLines()).toEqual([]);
});

it('belongs to its tenant', async () => {
  await put('all', { measure: 'jobs', period: 'day', amount: 1 }, rival);
  await use({ jobs: 5 });
  await look();
  expect([await alertLines(), await alertLines(rival)]).toEqual([[], []]);
  await use({ tenant: 'rival', jobs: 5 });
  await look();
  expect([await alertLines(), (await alertLines(rival)).length]).toEqual([[], 2]);
  expect(await budgets()).toEqual([]);
  expect((await callAs(app, key, 'DELETE', '/v1/budgets/all')).status).toBe(404);
  expect((await budgets(rival)).length).toBe(1);
  const { key: reader } = await newKey(database, 'default', 'jobs:read');
  expect((await callAs(app, reader, 'GET', '/v1/budgets')).status).toBe(200);
  const body = { measure: 'jobs', period: 'day', amount: 1 };
  expect((await put('mine', body, reader)).status).toBe(403);
});

it('is replaced and deleted, and each change is audited', async () => {
  await put('mill', { measure: 'cpuSeconds', period: 'day', amount: 10 });
  await put('mill', { measure: 'cpuSeconds', period: 'month', amount: 20.5 });
  expect(await budgets()).toMatchObject([{ name: 'mill', period: 'month', amount: 20.5 }]);
  const near = await callAs(app, key, 'DELETE', '/v1/budgets/mil');
  expect([near.status, near.text]).toEqual([404, expect.stringContaining('did you mean')]);
  expect((await callAs(app, key, 'DELETE', '/v1/budgets/mill')).status).toBe(204);
  expect(await budgets()).toEqual([]);
  const { body } = await callAs(app, key, 'GET', '/v1/audit?subject=mill');
  expect(body['entries']).toMatchObject([
    { action: 'budget.delete', before: { amount: 20.5 } },
    {
      action: 'budget.save',
      before: { period: 'day', amount: 10 },
      after: { period: 'month', amount: 20.5 },
    },
    { action: 'budget.save', after: { measure: 'cpuSeconds', definitionKey: null } },
  ]);
});

it.each([
  ['Bad', { measure: 'jobs', period: 'day', amount: 1 }, '/name: must be 1 to 63 lower-case'],
  ['x', { measure: 'job', period: 'day', amount: 1 }, 'did you mean \\"jobs\\"?'],
  ['x', { measure: 'jobs', period: 'week', amount: 1 }, '/period'],
  ['x', { measure: 'jobs', period: 'day', amount: 0 }, '/amount: must be a number from 0.001 to'],
  ['x', { measure: 'jobs', period: 'day' }, '/amount: is required'],
  ['x', { measure: 'jobs', period: 'day', amount: 1, stop: true }, '/stop'],
])('refuses the budget %s %j', async (name, body, message) => {
  const { status, text } = await put(name, body);
  expect(status).toBe(400);
  expect(text).toContain(message);
});

it('refuses more budgets than a tenant may have', async () => {
  await database.sql(
    `insert into longshore.budget (tenant, name, measure, period, amount, updated_by)
     select 'default', 'b' || n, 'jobs', 'day', 1, 'test' from generate_series(1, $1::int) n`,
    [BUDGETS_MAX],
  );
  const body = { measure: 'jobs', period: 'day', amount: 1 };
  expect((await put('more', body)).code).toBe('QUOTA_EXCEEDED');
  expect((await put('b1', body)).status).toBe(200);
});
