import { DEFAULT_JOB_LINES } from '../core/views/job-log.ts';
import { SHARDS_MAX } from '../core/job/job-id.ts';
import { defaultUrl } from './bind.ts';
import { type Config, INLINE_JOBS, LOG_LEVELS, POOLERS, type SettingKey } from './config.ts';
import type { Kind } from './kind.ts';

export interface Setting<Key extends SettingKey = SettingKey> {
  key: Key;
  env: string;
  /** Alternative names of other programs and earlier releases; the own name wins. */
  aliases?: readonly string[];
  kind: Kind;
  /** Placeholder of the value in `--help`. */
  placeholder: string;
  /** Default; may depend on settings above it in the table. */
  fallback: (known: Config) => Config[Key];
  fallbackText: string;
  /** A secret has no flag, since argv is readable by other users, but may be in a file. */
  secret?: true;
  /** Used by server roles or by client commands. */
  group: 'server' | 'client';
  meaning: string;
}

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
      'in transaction mode (docs/poolers.md).',
  },
  {
    ...named('host', 'LONGSHORE_HOST', 'server', 'host'),
    kind: { type: 'text' },
    ...fallback('127.0.0.1'),
    meaning:
      'Address to listen on. Other addresses than loopback require an API key (docs/security.md).',
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
      'Port on which a worker or scheduler serves `/metrics` of its own process (docs/metrics.md).',
  },
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
  {
    ...named('concurrency', 'LONGSHORE_CONCURRENCY', 'server', 'count'),
    aliases: ['MAX_CONCURRENT_EXECUTIONS'],
    kind: { type: 'integer', min: 1, max: 1_000 },
    ...fallback(8),
    meaning: 'Number of jobs that one worker runs at a time.',
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
    meaning: 'Redis for heartbeats of workers, to save database writes (docs/redis.md).',
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
    meaning: 'Time for running jobs to finish at shutdown; then they are released.',
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
    ...fallback(512),
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
    ...named('unhandledAfterMs', 'LONGSHORE_UNHANDLED_AFTER_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: 24 * HOUR_MS },
    ...fallback(60_000),
    meaning:
      'Age at which a queued job without a worker for its definition gets the warning `UNHANDLED`, or ' +
      'fails if it was enqueued by `POST /api/jobs/enqueue`.',
  },
  {
    ...named('webhookAllow', 'LONGSHORE_WEBHOOK_ALLOW', 'server', 'networks'),
    kind: { type: 'networks' },
    ...fallback(null, 'none'),
    meaning:
      'Non-public networks that webhooks may reach, such as `10.1.0.0/16` (docs/webhooks.md).',
  },
  {
    ...named('alerts', 'LONGSHORE_ALERTS', 'server', 'rules'),
    kind: { type: 'alerts' },
    ...fallback(null, 'the thresholds of docs/alerts.md'),
    meaning:
      'Alert rules, unless changed through the API: `rule=threshold`, ' +
      '`rule=threshold/windowSeconds` or `rule=off`, separated by commas (docs/alerts.md).',
  },
  {
    ...named('encryptionKeys', 'LONGSHORE_ENCRYPTION_KEYS', 'server', 'keys'),
    kind: { type: 'key-ring' },
    ...fallback(null, 'none: no encryption'),
    secret: true,
    meaning:
      'Keys that encrypt params, results and checkpoints in the database, as ' +
      '`id:base64,id2:base64`: the first encrypts, all decrypt (docs/security.md).',
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
    ...named('bulkDays', 'LONGSHORE_BULK_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(30),
    meaning: 'How long a finished bulk action is kept; 0: for ever.',
  },
  {
    ...named('shards', 'LONGSHORE_SHARDS', 'server', 'count'),
    kind: { type: 'integer', min: 1, max: SHARDS_MAX },
    ...fallback(1),
    meaning: 'Number of shards; fixed at the first migration.',
  },
  {
    ...named('logLevel', 'LONGSHORE_LOG_LEVEL', 'server', 'level'),
    kind: { type: 'choice', choices: LOG_LEVELS },
    fallback: () => 'info',
    fallbackText: '`info`, and `warn` for `start` on a terminal',
    meaning: 'Minimum level of log lines, printed as JSON on stderr.',
  },
  {
    ...named('logJobs', 'LONGSHORE_LOG_JOBS', 'server', 'which'),
    kind: { type: 'job-lines' },
    ...fallback(DEFAULT_JOB_LINES),
    meaning:
      'Which jobs are logged: `off`, `failures`, `all`, or a share of jobs such as `0.01` in addition ' +
      'to failures (docs/logging.md).',
  },
  {
    ...named('tracing', 'LONGSHORE_TRACING', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning:
      'File that registers an OpenTelemetry SDK; imported by the processes of the server and of jobs ' +
      '(docs/tracing.md).',
  },
  {
    ...named('url', 'LONGSHORE_URL', 'client', 'url'),
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    fallback: defaultUrl,
    fallbackText: '`http://127.0.0.1:4400`, following host and port',
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

function named<Key extends SettingKey>(
  key: Key,
  env: string,
  group: Setting['group'],
  placeholder: string,
): Pick<Setting<Key>, 'key' | 'env' | 'group' | 'placeholder'> {
  return { key, env, group, placeholder };
}

function fallback<Value>(value: Value, text = `\`${String(value)}\``) {
  return { fallback: () => value, fallbackText: text };
}
