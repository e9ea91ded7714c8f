import { retriedKeys, RUNNING_SEEN, type Seen } from '../../core/problems/problem.ts';
import { DEFAULT_TENANT, mayDo } from '../../core/access/scope.ts';
import { DAY_MS } from '../../core/values/duration.ts';
import type { PublishedDefinition } from '../job.ts';
import type { Longshore } from '../longshore.ts';
import type { Stats } from '../stats.ts';

const GROUPS_MAX = 20;
const PAGE_MAX = 200;

/** What the list of problems is derived from, as the overview of the dashboard reads it. */
export async function readSeen(client: Longshore, now: Date, { withWebhooks = false } = {}) {
  const from = new Date(now.getTime() - DAY_MS);
  const asked = {
    status: ['running', 'cancelling'],
    sort: 'createdAt',
    limit: RUNNING_SEEN,
  } as const;
  const [
    stats,
    { groups: failures },
    workers,
    definitions,
    pauses,
    { schedules },
    { alerts },
    { jobs: running },
    tenant,
  ] = await Promise.all([
    client.stats({ seriesMinutes: 1 }),
    client.deadLetters.groups({ from, limit: GROUPS_MAX }),
    client.workers(),
    client.definitions(),
    client.flow.pauses(),
    client.schedules.list({ limit: PAGE_MAX }),
    client.alerts.list({ status: 'firing', limit: PAGE_MAX }),
    client.list(asked),
    client.tenant(),
  ]);
  const { scopes } = await client.caller();
  const seesOthers = tenant.tenant === DEFAULT_TENANT && mayDo(scopes, 'admin');
  const tenants = seesOthers ? await client.tenants.list() : [];
  const retrying = await Promise.all(
    retriedKeys(alerts).map((definitionKey) =>
      client.list({ definitionKey, status: ['retrying'], limit: 1 }),
    ),
  );
  const retried = retrying.flatMap(({ jobs }) => jobs);
  const seen = { failures, workers, pauses, schedules, alerts, running, retried, tenant, tenants };
  // The URL of a webhook may contain a token, which an agent need not see; the alert about it does not.
  const webhooks: Seen['webhooks'] =
    withWebhooks && mayDo(scopes, 'operate') ? await client.webhooks.list() : [];
  return { ...seen, webhooks, stats, definitions } satisfies Seen & {
    stats: Stats;
    definitions: readonly PublishedDefinition[];
  };
}
