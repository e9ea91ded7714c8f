import { LARGE_VALUE_MAX_BYTES } from '../core/large/large-value.ts';
import { STREAM_MAX_BYTES } from '../core/logs/stream.ts';
import { RUNNER_MEMORY_MB } from '../core/definition/definition.ts';
import { SHARDS_MAX } from '../core/job/job-id.ts';
import { defaultUrl } from './bind.ts';
import { type Config, INLINE_JOBS, POOLERS, type SettingKey, UNREGISTERED } from './config.ts';
import { ALERT_SETTINGS } from './alert-settings.ts';
import { DASHBOARD_SETTINGS } from './dashboard-settings.ts';
import { DEPLOYMENT_SETTINGS } from './deployment-settings.ts';
import { EVENT_SETTINGS } from './event-settings.ts';
import { LOG_SETTINGS } from './log-settings.ts';
import { SIGN_IN_SETTINGS } from './sign-in-settings.ts';
import { fallback, named, type Setting } from './setting.ts';

export type { Setting } from './setting.ts';

const HOUR_MS = 3_600_000;
const TEN_YEARS = 3_650;

/** All settings: names, limits, defaults, `--help` and docs/configuration.md come from here. */
export const SETTINGS: readonly Setting[] = [
  {
    ...named('databaseUrl', 'DATABASE_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['postgres:', 'postgresql:'] },
    ...fallback(null, 'embedded PostgreSQL'),
    secret: true,
    meaning: 'PostgreSQL database (15 or newer). Default: an embedded PostgreSQL.',
  },
  {
    ...named('pooler', 'LONGSHORE_POOLER', 'server', 'kind'),
    kind: { type: 'choice', choices: POOLERS },
    fallback: () => 'none',
    fallbackText: '`none`',
    meaning:
      'Connection pooler in front of the database: `transaction` for PgBouncer and similar poolers ' +
      'in transaction mode (docs/operate/poolers.md).',
  },
  {
    ...named('host', 'LONGSHORE_HOST', 'server', 'host'),
    kind: { type: 'text' },
    ...fallback('127.0.0.1'),
    meaning:
      'Address to listen on. Other addresses than loopback require an API key or an OpenID provider ' +
      '(docs/operate/security.md).',
  },
  {
    ...named('port', 'LONGSHORE_PORT', 'server', 'port'),
    kind: { type: 'integer', min: 0, max: 65_535 },
    ...fallback(4_400),
    meaning: 'Port to listen on; 0: any free port.',
  },
  {
    ...named('allowedHosts', 'LONGSHORE_ALLOWED_HOSTS', 'server', 'names'),
    kind: { type: 'names' },
    ...fallback(null, 'the host itself and loopback'),
    meaning: 'More accepted names in the Host header, such as `jobs.example.com`; `*`: any.',
  },
  {
    ...named('trustedProxies', 'LONGSHORE_TRUSTED_PROXIES', 'server', 'networks'),
    kind: { type: 'networks' },
    ...fallback(null, 'none'),
    meaning:
      'Networks of proxies whose `X-Forwarded-For` is trusted, such as `10.0.0.0/8`: rate limits and ' +
      'the audit log then use the address of the client.',
  },
  {
    ...named('metricsHost', 'LONGSHORE_METRICS_HOST', 'server', 'host'),
    kind: { type: 'text' },
    ...fallback('127.0.0.1'),
    meaning: 'Address for `LONGSHORE_METRICS_PORT`, which needs no key.',
  },
  {
    ...named('metricsPort', 'LONGSHORE_METRICS_PORT', 'server', 'port'),
    kind: { type: 'integer', min: 0, max: 65_535 },
    ...fallback(null, 'none'),
    meaning:
      'Port on which a worker or scheduler serves `/metrics` of its own process (docs/operate/metrics.md).',
  },
  ...DASHBOARD_SETTINGS,
  {
    ...named('keyRequestsPerSecond', 'LONGSHORE_KEY_REQUESTS_PER_SECOND', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 1_000_000 },
    ...fallback(1_000),
    meaning: 'Rate limit per key and API process, with a burst of two seconds; 0: no limit.',
  },
  {
    ...named(
      'addressRequestsPerSecond',
      'LONGSHORE_ADDRESS_REQUESTS_PER_SECOND',
      'server',
      'count',
    ),
    kind: { type: 'integer', min: 0, max: 1_000_000 },
    ...fallback(1_000),
    meaning: 'Rate limit per client address; loopback has none.',
  },
  {
    ...named('tenantQueuedMax', 'LONGSHORE_TENANT_QUEUED_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning:
      'Maximum number of queued jobs per tenant; the API then rejects new jobs of the tenant.',
  },
  {
    ...named('tenantQueuedBytesMax', 'LONGSHORE_TENANT_QUEUED_BYTES_MAX', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: 1_000_000_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning: 'Maximum stored size of the params of all queued jobs per tenant.',
  },
  {
    ...named('tenantSchedulesMax', 'LONGSHORE_TENANT_SCHEDULES_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning: 'Maximum number of schedules per tenant.',
  },
  {
    ...named('tenantWebhooksMax', 'LONGSHORE_TENANT_WEBHOOKS_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000 },
    ...fallback(100),
    meaning: 'Maximum number of webhooks per tenant; `0`: no limit.',
  },
  {
    ...named('jobs', 'LONGSHORE_JOBS', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback('./jobs'),
    meaning: 'File or folder with the definitions of a worker.',
  },
  {
    ...named('data', 'LONGSHORE_DATA', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback('./.longshore'),
    meaning: 'Folder for persistent data, such as the embedded database.',
  },
  ...DEPLOYMENT_SETTINGS,
  {
    ...named('concurrency', 'LONGSHORE_CONCURRENCY', 'server', 'count'),
    aliases: ['MAX_CONCURRENT_EXECUTIONS'],
    kind: { type: 'integer', min: 1, max: 1_000 },
    ...fallback(8),
    meaning: 'Number of jobs that one worker runs at a time.',
  },
  {
    ...named('workers', 'LONGSHORE_WORKERS', 'server', 'range'),
    kind: { type: 'workers' },
    ...fallback('1'),
    meaning:
      'Number of worker processes of `longshore start`: `3`; by load with a range such as `1..4`, or ' +
      '`auto` for one to a process per core (docs/operate/scaling.md).',
  },
  {
    ...named('leaseMs', 'LONGSHORE_LEASE_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 500, max: HOUR_MS },
    ...fallback(30_000),
    meaning: 'Time without a heartbeat after which the jobs of a worker run on another one.',
  },
  {
    ...named('heartbeatMs', 'LONGSHORE_HEARTBEAT_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 50, max: HOUR_MS },
    fallback: (known: Config) => Math.floor(known.leaseMs / 3),
    fallbackText: 'a third of the lease',
    meaning: 'Interval at which a worker renews its leases; at most half of the lease.',
  },
  {
    ...named('redisUrl', 'LONGSHORE_REDIS_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['redis:', 'rediss:'] },
    ...fallback(null, 'none'),
    secret: true,
    meaning: 'Redis for heartbeats of workers, to save database writes (docs/operate/redis.md).',
  },
  {
    ...named('redisLeaseMs', 'LONGSHORE_REDIS_LEASE_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 1_000, max: HOUR_MS },
    ...fallback(120_000),
    meaning: 'Lease of a worker with heartbeats in Redis; at least twice `LONGSHORE_LEASE_MS`.',
  },
  {
    ...named('cancelGraceMs', 'LONGSHORE_CANCEL_GRACE_MS', 'server', 'ms'),
    aliases: ['CANCEL_GRACE_MS'],
    kind: { type: 'integer', min: 0, max: HOUR_MS },
    ...fallback(5_000),
    meaning: 'Time for a cancelled job to stop before its process is killed.',
  },
  {
    ...named('drainMs', 'LONGSHORE_DRAIN_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: HOUR_MS },
    ...fallback(30_000),
    meaning: 'Time for running jobs to finish at shutdown; then they return to their queue.',
  },
  {
    ...named('pollMs', 'LONGSHORE_POLL_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 10, max: 60_000 },
    ...fallback(1_000),
    meaning: 'Poll interval of the queue without notifications.',
  },
  {
    ...named('ageingMs', 'LONGSHORE_AGEING_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: 24 * HOUR_MS },
    ...fallback(0),
    meaning:
      'Ageing: when a worker has claimed no job of a priority level for this long, its next claim ' +
      'starts with that level; 0: never, higher priorities always run first.',
  },
  {
    ...named('logMaxBytes', 'LONGSHORE_LOG_MAX_BYTES', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: 1_073_741_824 },
    ...fallback(10_485_760),
    meaning: 'Maximum log size of one attempt; further lines are dropped with a note.',
  },
  {
    ...named('streamMaxBytes', 'LONGSHORE_STREAM_MAX_BYTES', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: 67_108_864 },
    ...fallback(STREAM_MAX_BYTES),
    meaning: 'How much text one attempt may stream; more fails with a clear error.',
  },
  {
    ...named('largeValuesMaxBytes', 'LONGSHORE_LARGE_VALUES_MAX_BYTES', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: LARGE_VALUE_MAX_BYTES },
    ...fallback(0),
    meaning:
      'The largest params or result (docs/guides/large-values.md). Those that are too large for the ' +
      'database go to the storage of LONGSHORE_ARTIFACTS; 0: they are refused. The API and all ' +
      'workers need the same value.',
  },
  {
    ...named('runnerMaxJobs', 'LONGSHORE_RUNNER_MAX_JOBS', 'server', 'count'),
    kind: { type: 'integer', min: 1, max: 1_000_000_000 },
    ...fallback(1_000),
    meaning:
      'Number of jobs after which a reused process is recycled, but not before it is a minute old.',
  },
  {
    ...named('runnerEnv', 'LONGSHORE_RUNNER_ENV', 'server', 'names'),
    kind: { type: 'variables' },
    ...fallback(null, 'none'),
    meaning:
      'Environment variables of the worker that are passed to jobs, such as `TEAM,AWS_*`. ' +
      'Other variables are not passed.',
  },
  {
    ...named('runnerUids', 'LONGSHORE_RUNNER_UIDS', 'server', 'range'),
    kind: { type: 'uids' },
    ...fallback('auto'),
    meaning:
      'User ids of job processes if the worker is root: each process gets its own from a ' +
      'range such as `70000-79999`. `auto` uses that range, or `50000-59999` where ids end at 65535, ' +
      'and warns if it cannot; `none` runs jobs as root (docs/isolation.md).',
  },
  {
    ...named('runnerMemoryMb', 'LONGSHORE_RUNNER_MEMORY_MB', 'server', 'mb'),
    kind: { type: 'integer', min: 0, max: 1_048_576 },
    ...fallback(RUNNER_MEMORY_MB),
    meaning:
      'Default memory limit of a job with all its processes, for definitions without `memoryMb`; ' +
      '0: no limit.',
  },
  {
    ...named('inlineJobs', 'LONGSHORE_INLINE_JOBS', 'server', 'which'),
    kind: { type: 'choice', choices: INLINE_JOBS },
    fallback: () => 'own-user',
    fallbackText: '`own-user`',
    meaning:
      "Whether definitions with isolation 'inline' or 'thread', which run inside the worker, are " +
      'accepted: `own-user` rejects them if job processes have their own users, `always` accepts them.',
  },
  {
    ...named('unservedAfterMs', 'LONGSHORE_UNSERVED_AFTER_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: 24 * HOUR_MS },
    ...fallback(60_000),
    meaning:
      'Age at which a queued job without a worker for its definition gets the warning `UNSERVED`, or ' +
      'fails if it was enqueued by `POST /api/jobs/enqueue`.',
  },
  {
    ...named('unregistered', 'LONGSHORE_UNREGISTERED', 'server', 'which'),
    kind: { type: 'choice', choices: UNREGISTERED },
    fallback: () => 'accept',
    fallbackText: '`accept`',
    meaning:
      'What the API does with a job or schedule whose definition no worker has registered: `accept` ' +
      'stores it and adds a warning, `reject` refuses it. A call can choose with `requireRegistered`.',
  },
  ...EVENT_SETTINGS,
  ...ALERT_SETTINGS,
  ...SIGN_IN_SETTINGS,
  {
    ...named('encryptionKeys', 'LONGSHORE_ENCRYPTION_KEYS', 'server', 'keys'),
    kind: { type: 'key-ring' },
    ...fallback(null, 'none: no encryption'),
    secret: true,
    meaning:
      'Keys that encrypt params, results and checkpoints in the database, as ' +
      '`id:base64,id2:base64`: the first encrypts, all decrypt (docs/operate/security.md).',
  },
  {
    ...named('retentionDays', 'LONGSHORE_RETENTION_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 1, max: TEN_YEARS },
    ...fallback(7),
    meaning: 'How long a finished job is kept, with its attempts and its idempotency key.',
  },
  {
    ...named('deadLetterDays', 'LONGSHORE_DEAD_LETTER_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(0, '`0`, for ever'),
    meaning: 'How long failed jobs are kept; 0: until they are deleted.',
  },
  {
    ...named('auditDays', 'LONGSHORE_AUDIT_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(0, '`0`, for ever'),
    meaning: 'How long audit entries are kept; at least 30 days.',
  },
  {
    ...named('usageDays', 'LONGSHORE_USAGE_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(400),
    meaning: 'How long the usage of a day is kept; at least 31 days; 0: for ever.',
  },
  {
    ...named('bulkDays', 'LONGSHORE_BULK_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(30),
    meaning: 'How long a finished bulk action is kept; 0: for ever.',
  },
  {
    ...named('idempotencyDays', 'LONGSHORE_IDEMPOTENCY_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(0, '`0`, as long as their jobs'),
    meaning:
      'How long idempotency keys stay in use after the creation of their job, although the job is ' +
      'deleted before.',
  },
  {
    ...named('shards', 'LONGSHORE_SHARDS', 'server', 'count'),
    kind: { type: 'integer', min: 1, max: SHARDS_MAX },
    ...fallback(1),
    meaning: 'Number of shards; fixed at the first migration.',
  },
  ...LOG_SETTINGS,
  {
    ...named('url', 'LONGSHORE_URL', 'client', 'url'),
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    fallback: defaultUrl,
    fallbackText:
      'the server of this folder, or `http://127.0.0.1:4400` with the configured host and port',
    meaning: 'URL of the server for client commands.',
  },
  {
    ...named('apiKey', 'LONGSHORE_API_KEY', 'client', 'key'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    secret: true,
    meaning: 'API key of client commands, sent as `Authorization: Bearer`.',
  },
  {
    ...named('tenant', 'LONGSHORE_TENANT', 'client', 'name'),
    kind: { type: 'text' },
    ...fallback(null, 'tenant of the key'),
    meaning: 'Tenant to act for; only an admin key of the default tenant may name another one.',
  },
];

/** Set by Longshore for the commands it runs, so that a job can call `longshore enqueue`. */
export const CHILD_VARIABLES: readonly string[] = [
  'LONGSHORE_PARAMS_FILE',
  'LONGSHORE_JOB_ID',
  'LONGSHORE_ATTEMPT',
];

/** Null for a secret. */
export function flagOf(setting: Setting): string | null {
  return setting.secret ? null : flagName(setting.key);
}

/** `leaseMs` is `--lease-ms`. */
export function flagName(key: SettingKey): string {
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function fileVariantOf(setting: Setting): string | null {
  return setting.secret ? `${setting.env}_FILE` : null;
}
