import { useQueries, useQuery } from '@tanstack/react-query';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { AlertView } from '../../../../src/core/alert/alert.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import type { TenantView } from '../../../../src/core/views/key-view.ts';
import type { StatsView } from '../../../../src/core/views/stats.ts';
import { retriedKeys, RUNNING_SEEN } from '../../../../src/core/problems/problem.ts';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { ownTenantQuery, tenantsQuery } from '../../api/admin-queries.ts';
import { groupsQuery, type GroupPage } from '../../api/failure-queries.ts';
import {
  definitionsQuery,
  jobsQuery,
  pausesQuery,
  manySchedulesQuery,
  workersQuery,
} from '../../api/queries.ts';
import { useMay } from '../../api/use-may.ts';
import { tenant } from '../../runtime/tenant.ts';
import { useWebhooks } from '../../api/use-webhooks.ts';
import { firingAlertsQuery, statsQuery } from '../../api/signal-queries.ts';

/**
 * Data of the overview. Backlogs come from the server's counters; single jobs are read only where a
 * few suffice.
 */
export interface Overview {
  /** Dead letters of the last 24 hours. */
  failures: GroupPage;
  pauses: PauseView[];
  running: JobView[];
  nextRetry: JobView | null;
  /** Why attempts are retried, where an alert says that they are. */
  retried: JobView[];
  workers: WorkerView[];
  definitions: PublishedDefinition[];
  schedules: ScheduleView[];
  stats: StatsView;
  alerts: AlertView[];
  tenant: TenantView;
  /** All tenants, for admins of the default tenant. */
  tenants: TenantView[];
  webhooks: WebhookView[];
}

const EVERY_MS = 5_000;

export function useOverview(): { overview: Overview | null; error: Error | null } {
  const oldest = { sort: 'createdAt', limit: RUNNING_SEEN } as const;
  const failures = useQuery(groupsQuery({ window: '24h' }));
  const pauses = useQuery(pausesQuery());
  const running = useQuery(jobsQuery({ status: ['running', 'cancelling'], ...oldest }, EVERY_MS));
  const retrying = useQuery(jobsQuery({ status: ['retrying'], sort: 'runAt', limit: 1 }, EVERY_MS));
  const workers = useQuery(workersQuery());
  const definitions = useQuery(definitionsQuery());
  const schedules = useQuery(manySchedulesQuery());
  const stats = useQuery(statsQuery());
  const alerts = useQuery(firingAlertsQuery());
  const retried = useQueries({
    queries: retriedKeys(alerts.data?.alerts ?? []).map((definitionKey) =>
      jobsQuery({ definitionKey, status: ['retrying'], limit: 1 }, EVERY_MS),
    ),
  });
  const own = useQuery(ownTenantQuery());
  const seesOthers = useMay('admin', { ofDefaultTenant: true }) && tenant === null;
  const tenants = useQuery({ ...tenantsQuery(), enabled: seesOthers });
  const webhooks = useWebhooks();
  const all = [failures, pauses, running, retrying, workers, definitions, schedules, stats, alerts];
  const error = [...all, own].find((one) => one.error !== null)?.error ?? null;
  if (!failures.data || !pauses.data || !running.data || !retrying.data || !workers.data)
    return { overview: null, error };
  if (!definitions.data || !schedules.data || !stats.data || !alerts.data || !own.data)
    return { overview: null, error };
  const overview = {
    failures: failures.data,
    pauses: pauses.data,
    running: running.data.jobs,
    nextRetry: retrying.data.jobs[0] ?? null,
    retried: retried.flatMap(({ data }) => data?.jobs ?? []),
    workers: workers.data,
    definitions: definitions.data,
    schedules: schedules.data.schedules,
    stats: stats.data,
    alerts: alerts.data.alerts,
    tenant: own.data,
    tenants: (seesOthers && tenants.data) || [],
    webhooks,
  };
  return { overview, error };
}

/** Number of dead letters of the last 24 hours. */
export function deadLetters({ failures: { groups, complete } }: Overview): string {
  const times = groups.reduce((sum, { count }) => sum + count, 0);
  const isExact = complete && groups.every(({ countIsExact }) => countIsExact);
  return `${times.toLocaleString('en')}${isExact ? '' : '+'}`;
}
