import { DEFAULT_TENANT } from '../access/scope.ts';
import type { AlertView } from '../alert/alert.ts';
import type { OwnedDefinition } from '../definition/owners.ts';
import type { DeadLetterGroup } from '../failure/dead-letter.ts';
import type { JobState, JobView } from '../job/job.ts';
import type { HeldJob } from '../queue/worker.ts';
import type { ScheduleView } from '../schedule/schedule.ts';
import type { TenantView } from '../views/key-view.ts';
import type { WebhookView } from '../webhook/webhook.ts';
import type { DefinitionStats } from '../views/stats.ts';
import type { JobWorld } from '../views/why-not-running.ts';

/** What a problem is about, for a link or the next question. */
export type ProblemTarget =
  | { at: 'job'; jobId: string }
  /** Of another tenant than the one that is looked at, if it has a name. */
  | { at: 'jobs'; status: JobState[]; tenant?: string }
  | { at: 'workers' }
  | { at: 'alerts' }
  | { at: 'usage'; definitionKey: string | null }
  | { at: 'tenants' }
  | { at: 'tenant'; name: string }
  /** Where its limit is changed. */
  | { at: 'tenant-limit'; name: string }
  | { at: 'definition'; key: string }
  | { at: 'dead-letters'; fingerprint: string | null; definitionKey?: string }
  | { at: 'schedule'; scheduleId: string }
  | { at: 'webhook'; webhookId: string };

/** One problem of the server: how many jobs it hits, and why. */
export interface Problem {
  kind:
    | 'failed'
    | 'stuck'
    | 'waiting'
    | 'paused'
    | 'worker'
    | 'schedule'
    | 'webhook'
    | 'alert'
    | 'tenant';
  /** The definitions that it is about; null if the text says all. */
  about: string | null;
  text: string;
  owner: string | null;
  target: ProblemTarget;
  /** The code of a failure. */
  code?: string;
  /** Alerts that report the same problem; they are not listed again. */
  alerts?: readonly { rule: AlertView['rule']; about: string }[];
  /** Definitions whose waiting jobs it explains; they are not listed again. */
  covers?: readonly string[];
}

/** The running jobs that are read beside those that the workers list. */
export const RUNNING_SEEN = 50;

/** What the problems are derived from. */
export interface Seen extends JobWorld {
  definitions: readonly (OwnedDefinition & JobWorld['definitions'][number])[];
  /** Of the last 24 hours, by error. */
  failures: readonly DeadLetterGroup[];
  /** The first created ones, at most `RUNNING_SEEN`, for those that no worker lists. */
  running: readonly JobView[];
  schedules: readonly ScheduleView[];
  /** Job counts and oldest job per definition, as of `at`. */
  stats: { at: string; definitions: readonly DefinitionStats[] };
  /** Empty for callers who may not see other tenants. */
  tenants?: readonly Pick<
    TenantView,
    | 'tenant'
    | 'firingAlerts'
    | 'failedJobs'
    | 'concurrencyLimit'
    | 'heldBackMs'
    | 'heldBackJobs'
    | 'paused'
  >[];
  /** Firing alerts. */
  alerts: readonly AlertView[];
  /** A job that waits for its retry, of each of `retriedKeys`: its error is the cause. */
  retried?: readonly JobView[];
  /** Empty for a caller that may not read them: then the alerts about them remain. */
  webhooks: readonly WebhookView[];
}

const OF_RETRIES: ReadonlySet<AlertView['rule']> = new Set(['retries', 'retry-rate']);
const RETRIED_MAX = 5;

export function isOfRetries({ rule }: Pick<AlertView, 'rule'>): boolean {
  return OF_RETRIES.has(rule);
}

/** The definitions whose alerts say that attempts are retried, and not why. */
export function retriedKeys(alerts: readonly AlertView[]): string[] {
  const firing = alerts.filter((alert) => alert.status === 'firing' && isOfRetries(alert));
  return [...new Set(firing.flatMap(({ definitionKey }) => definitionKey ?? []))].slice(
    0,
    RETRIED_MAX,
  );
}

/** Definitions with waiting or scheduled jobs. */
export function pendingOf({ stats, schedules }: Pick<Seen, 'stats' | 'schedules'>): Set<string> {
  const waiting = stats.definitions.filter(
    ({ states }) => states.queued + states.scheduled + states.retrying > 0,
  );
  const scheduled = schedules.filter(({ enabled }) => enabled);
  return new Set([
    ...waiting.map(({ key }) => key),
    ...scheduled.map(({ definitionKey }) => definitionKey),
  ]);
}

/** All running jobs of the tenant that is looked at, as far as their worker is listed. */
export function heldJobs({ workers, tenant }: Pick<Seen, 'workers' | 'tenant'>): HeldJob[] {
  const own = ownTenant(tenant);
  return workers.flatMap(({ jobs }) => jobs.filter((job) => job.tenant === own));
}

/** When the oldest queued job was queued; null if none is. */
export function oldestSince(
  at: string,
  { oldestAgeMs }: Pick<DefinitionStats, 'oldestAgeMs'>,
): string | null {
  return oldestAgeMs === null ? null : new Date(Date.parse(at) - oldestAgeMs).toISOString();
}

/** The default tenant has the workers of all; another one sees what concerns its own jobs. */
export function isOperators(tenant: Seen['tenant']): boolean {
  return tenant === null || tenant.tenant === DEFAULT_TENANT;
}

/** The tenant whose jobs the counters have. */
export function ownTenant(tenant: Seen['tenant']): string {
  return tenant?.tenant ?? DEFAULT_TENANT;
}

export function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number.toLocaleString('en')} ${word}s`;
}

export function waits(jobs: number): string {
  return jobs === 1 ? 'waits' : 'wait';
}

const OF_BUDGETS = new Set<AlertView['rule']>(['budget-warning', 'budget-exceeded']);
/** They count dead letters, so one job of many says little. */
export const OF_DEAD_LETTERS: ReadonlySet<AlertView['rule']> = new Set([
  'dead-letters',
  'dead-letter-size',
]);

/** The screen of an alert's subject; null if it concerns the whole server. */
export function alertTarget({
  rule,
  jobId,
  scheduleId,
  webhookId,
  definitionKey,
}: Pick<
  AlertView,
  'rule' | 'jobId' | 'scheduleId' | 'webhookId' | 'definitionKey'
>): ProblemTarget | null {
  if (OF_BUDGETS.has(rule)) return { at: 'usage', definitionKey };
  if (webhookId !== null) return { at: 'webhook', webhookId };
  if (definitionKey !== null && OF_DEAD_LETTERS.has(rule)) {
    return { at: 'dead-letters', fingerprint: null, definitionKey };
  }
  if (jobId !== null) return { at: 'job', jobId };
  if (scheduleId !== null) return { at: 'schedule', scheduleId };
  return definitionKey === null ? null : { at: 'definition', key: definitionKey };
}

export function msSince(at: string, now: Date): number {
  return now.getTime() - Date.parse(at);
}
