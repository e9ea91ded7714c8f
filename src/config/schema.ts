import { DEFAULT_JOB_LINES } from '../core/views/job-log.ts';
import { SHARDS_MAX } from '../core/job/job-id.ts';
import { defaultUrl } from './bind.ts';
import { type Config, INLINE_JOBS, LOG_LEVELS, POOLERS, type SettingKey } from './config.ts';
import type { Kind } from './kind.ts';

export interface Setting<Key extends SettingKey = SettingKey> {
  key: Key;
  env: string;
  /** Names that other programs and older set-ups use; our own name wins when both are set. */
  aliases?: readonly string[];
  kind: Kind;
  /** What stands for the value in `--help`. */
  placeholder: string;
  /** The settings above it in the table are known by then. */
  fallback: (known: Config) => Config[Key];
  fallbackText: string;
  /** A secret has no flag, since everybody on the machine can read argv, but may sit in a file. */
  secret?: true;
  /** Whose setting it is: the roles of the server, or the commands that talk to one. */
  group: 'server' | 'client';
  meaning: string;
}

const HOUR_MS = 3_600_000;
const TEN_YEARS = 3_650;

/** The one table: names, limits, defaults, `--help` and docs/configuration.md all come from it. */
export const SETTINGS: readonly Setting[] = [
  {
    ...named('databaseUrl', 'DATABASE_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['postgres:', 'postgresql:'] },
    ...fallback(null, 'embedded PostgreSQL'),
    secret: true,
    meaning: 'The PostgreSQL database (15 or newer). Without it Longshore starts its own.',
  },
  {
    ...named('pooler', 'LONGSHORE_POOLER', 'server', 'kind'),
    kind: { type: 'choice', choices: POOLERS },
    fallback: () => 'none',
    fallbackText: '`none`',
    meaning:
      'What stands before the database: `transaction` for PgBouncer and its like in transaction ' +
      'mode (docs/poolers.md).',
  },
  {
    ...named('host', 'LONGSHORE_HOST', 'server', 'host'),
    kind: { type: 'text' },
    ...fallback('127.0.0.1'),
    meaning:
      'The address to listen on. Any but loopback needs an API key first (docs/security.md).',
  },
  {
    ...named('port', 'LONGSHORE_PORT', 'server', 'port'),
    kind: { type: 'integer', min: 0, max: 65_535 },
    ...fallback(4_400),
    meaning: 'The port to listen on; 0 takes any free one.',
  },
  {
    ...named('allowedHosts', 'LONGSHORE_ALLOWED_HOSTS', 'server', 'names'),
    kind: { type: 'names' },
    ...fallback(null, 'the host itself, and loopback'),
    meaning: 'More names that clients call this server by, such as `jobs.example.com`; `*` is any.',
  },
  {
    ...named('trustedProxies', 'LONGSHORE_TRUSTED_PROXIES', 'server', 'networks'),
    kind: { type: 'networks' },
    ...fallback(null, 'none'),
    meaning:
      'Networks of proxies whose `X-Forwarded-For` is believed, such as `10.0.0.0/8`: limits and the ' +
      'audit log then know the address of the client.',
  },
  {
    ...named('metricsHost', 'LONGSHORE_METRICS_HOST', 'server', 'host'),
    kind: { type: 'text' },
    ...fallback('127.0.0.1'),
    meaning: 'The address for `LONGSHORE_METRICS_PORT`. Nobody who reaches it needs a key.',
  },
  {
    ...named('metricsPort', 'LONGSHORE_METRICS_PORT', 'server', 'port'),
    kind: { type: 'integer', min: 0, max: 65_535 },
    ...fallback(null, 'none'),
    meaning:
      'Where a worker or scheduler serves `/metrics` about its own process (docs/metrics.md).',
  },
  {
    ...named('keyRequestsPerSecond', 'LONGSHORE_KEY_REQUESTS_PER_SECOND', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 1_000_000 },
    ...fallback(1_000),
    meaning:
      'How many requests one API process takes by one key, with two seconds saved up; 0 is no limit.',
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
    meaning: 'The same by one address. Loopback has no limit.',
  },
  {
    ...named('tenantQueuedMax', 'LONGSHORE_TENANT_QUEUED_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning: 'How many queued jobs one tenant may have; then the API takes no more of it.',
  },
  {
    ...named('tenantQueuedBytesMax', 'LONGSHORE_TENANT_QUEUED_BYTES_MAX', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: 1_000_000_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning: 'How many bytes the params of the queued jobs of one tenant may take, as stored.',
  },
  {
    ...named('tenantSchedulesMax', 'LONGSHORE_TENANT_SCHEDULES_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000_000 },
    ...fallback(0, '`0`, no limit'),
    meaning: 'How many schedules one tenant may have.',
  },
  {
    ...named('tenantWebhooksMax', 'LONGSHORE_TENANT_WEBHOOKS_MAX', 'server', 'count'),
    kind: { type: 'integer', min: 0, max: 10_000 },
    ...fallback(100),
    meaning: 'How many webhooks one tenant may have; `0` is no limit.',
  },
  {
    ...named('jobs', 'LONGSHORE_JOBS', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback('./jobs'),
    meaning: 'The file, or the folder of files, with the definitions that a worker runs.',
  },
  {
    ...named('data', 'LONGSHORE_DATA', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback('./.longshore'),
    meaning: 'The folder for what must outlive a restart, the embedded database above all.',
  },
  {
    ...named('concurrency', 'LONGSHORE_CONCURRENCY', 'server', 'count'),
    aliases: ['MAX_CONCURRENT_EXECUTIONS'],
    kind: { type: 'integer', min: 1, max: 1_000 },
    ...fallback(8),
    meaning: 'How many jobs one worker runs at the same time, each in its own process.',
  },
  {
    ...named('leaseMs', 'LONGSHORE_LEASE_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 500, max: HOUR_MS },
    ...fallback(30_000),
    meaning: 'How long a worker may stay silent before its jobs are given to another.',
  },
  {
    ...named('heartbeatMs', 'LONGSHORE_HEARTBEAT_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 50, max: HOUR_MS },
    fallback: (known: Config) => Math.floor(known.leaseMs / 3),
    fallbackText: 'a third of the lease',
    meaning: 'How often a worker renews its leases; at most half of the lease.',
  },
  {
    ...named('redisUrl', 'LONGSHORE_REDIS_URL', 'server', 'url'),
    kind: { type: 'url', protocols: ['redis:', 'rediss:'] },
    ...fallback(null, 'none'),
    secret: true,
    meaning:
      'A Redis where workers say that they are alive, to spare the database (docs/redis.md).',
  },
  {
    ...named('redisLeaseMs', 'LONGSHORE_REDIS_LEASE_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 1_000, max: HOUR_MS },
    ...fallback(120_000),
    meaning: 'The lease of a worker while Redis hears it; at least twice `LONGSHORE_LEASE_MS`.',
  },
  {
    ...named('cancelGraceMs', 'LONGSHORE_CANCEL_GRACE_MS', 'server', 'ms'),
    aliases: ['CANCEL_GRACE_MS'],
    kind: { type: 'integer', min: 0, max: HOUR_MS },
    ...fallback(5_000),
    meaning: 'How long a job may take to stop by itself before its process is killed.',
  },
  {
    ...named('drainMs', 'LONGSHORE_DRAIN_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: HOUR_MS },
    ...fallback(30_000),
    meaning:
      'How long running jobs may go on after a stop was asked for; then they are given back.',
  },
  {
    ...named('pollMs', 'LONGSHORE_POLL_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 10, max: 60_000 },
    ...fallback(1_000),
    meaning: 'How often to look for work when no notification came.',
  },
  {
    ...named('ageingMs', 'LONGSHORE_AGEING_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: 24 * HOUR_MS },
    ...fallback(0),
    meaning:
      'When jobs of a priority got nothing from a worker for so long, its next claim begins with ' +
      'them; 0: never, so that urgent jobs always go first.',
  },
  {
    ...named('logMaxBytes', 'LONGSHORE_LOG_MAX_BYTES', 'server', 'bytes'),
    kind: { type: 'integer', min: 0, max: 1_073_741_824 },
    ...fallback(10_485_760),
    meaning: 'How much one attempt of a job may log; what comes after it is left out, and says so.',
  },
  {
    ...named('runnerMaxJobs', 'LONGSHORE_RUNNER_MAX_JOBS', 'server', 'count'),
    kind: { type: 'integer', min: 1, max: 1_000_000_000 },
    ...fallback(1_000),
    meaning:
      'After how many jobs a new process takes the place of one that runs jobs one after another; ' +
      'one that did them in less than a minute goes on until the minute is over.',
  },
  {
    ...named('runnerEnv', 'LONGSHORE_RUNNER_ENV', 'server', 'names'),
    kind: { type: 'variables' },
    ...fallback(null, 'none'),
    meaning:
      'Variables of the server that jobs may see too, such as `TEAM,AWS_*`. ' +
      'Others, secrets above all, they do not get.',
  },
  {
    ...named('runnerUids', 'LONGSHORE_RUNNER_UIDS', 'server', 'range'),
    kind: { type: 'uids' },
    ...fallback('auto'),
    meaning:
      'Whom the processes of jobs run as, where the worker is root: each as a user of its own from a ' +
      'range such as `70000-79999`. `auto` takes that range, or `50000-59999` where ids end at 65535, ' +
      'and warns where it cannot; `none` runs jobs as root (docs/isolation.md).',
  },
  {
    ...named('runnerMemoryMb', 'LONGSHORE_RUNNER_MEMORY_MB', 'server', 'mb'),
    kind: { type: 'integer', min: 0, max: 1_048_576 },
    ...fallback(512),
    meaning:
      'The memory that a job may take, with all its processes, where its definition says no ' +
      '`memoryMb`; 0 is no limit.',
  },
  {
    ...named('inlineJobs', 'LONGSHORE_INLINE_JOBS', 'server', 'which'),
    kind: { type: 'choice', choices: INLINE_JOBS },
    fallback: () => 'own-user',
    fallbackText: '`own-user`',
    meaning:
      "Where definitions with isolation 'inline' or 'thread', which run inside the worker, are taken: " +
      '`own-user` refuses them where jobs have users of their own, `always` runs them as the worker.',
  },
  {
    ...named('unhandledAfterMs', 'LONGSHORE_UNHANDLED_AFTER_MS', 'server', 'ms'),
    kind: { type: 'integer', min: 0, max: 24 * HOUR_MS },
    ...fallback(60_000),
    meaning:
      'How long a job may be queued while no live worker has its definition before it is shown ' +
      'with the warning `UNHANDLED`, or fails, if `POST /api/jobs/enqueue` made it.',
  },
  {
    ...named('webhookAllow', 'LONGSHORE_WEBHOOK_ALLOW', 'server', 'networks'),
    kind: { type: 'networks' },
    ...fallback(null, 'none'),
    meaning:
      'Networks that webhooks may reach although they are not public, such as `10.1.0.0/16` ' +
      '(docs/webhooks.md).',
  },
  {
    ...named('alerts', 'LONGSHORE_ALERTS', 'server', 'rules'),
    kind: { type: 'alerts' },
    ...fallback(null, 'the thresholds of docs/alerts.md'),
    meaning:
      'When alerts fire, where nobody has said otherwise through the API: `rule=threshold`, ' +
      '`rule=threshold/windowSeconds` or `rule=off`, split by commas (docs/alerts.md).',
  },
  {
    ...named('encryptionKeys', 'LONGSHORE_ENCRYPTION_KEYS', 'server', 'keys'),
    kind: { type: 'key-ring' },
    ...fallback(null, 'none: nothing is encrypted'),
    secret: true,
    meaning:
      'Keys that params, results and checkpoints are encrypted with in the database, as ' +
      '`id:base64,id2:base64`: the first encrypts, all decrypt (docs/security.md).',
  },
  {
    ...named('retentionDays', 'LONGSHORE_RETENTION_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 1, max: TEN_YEARS },
    ...fallback(7),
    meaning: 'How long a job is kept after it ended, with its attempts and its idempotency key.',
  },
  {
    ...named('deadLetterDays', 'LONGSHORE_DEAD_LETTER_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(0, '`0`, for ever'),
    meaning: 'The same for jobs that failed; 0 keeps them until somebody deletes them.',
  },
  {
    ...named('auditDays', 'LONGSHORE_AUDIT_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(0, '`0`, for ever'),
    meaning: 'How long entries of the audit log are kept: at least 30 days.',
  },
  {
    ...named('bulkDays', 'LONGSHORE_BULK_DAYS', 'server', 'n'),
    kind: { type: 'integer', min: 0, max: TEN_YEARS },
    ...fallback(30),
    meaning: 'How long a bulk action is kept after it ended; 0 is for ever.',
  },
  {
    ...named('shards', 'LONGSHORE_SHARDS', 'server', 'count'),
    kind: { type: 'integer', min: 1, max: SHARDS_MAX },
    ...fallback(1),
    meaning: 'Into how many shards jobs are spread; fixed at the first migration.',
  },
  {
    ...named('logLevel', 'LONGSHORE_LOG_LEVEL', 'server', 'level'),
    kind: { type: 'choice', choices: LOG_LEVELS },
    fallback: () => 'info',
    fallbackText: '`info`, and `warn` for `start` on a terminal',
    meaning: 'The least important log lines to print, as JSON on stderr.',
  },
  {
    ...named('logJobs', 'LONGSHORE_LOG_JOBS', 'server', 'which'),
    kind: { type: 'job-lines' },
    ...fallback(DEFAULT_JOB_LINES),
    meaning:
      'Which lines about single jobs the log gets: `off`, `failures`, `all`, or a share of jobs such ' +
      'as `0.01` whose lines are all told, besides failures (docs/logging.md).',
  },
  {
    ...named('tracing', 'LONGSHORE_TRACING', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning:
      'A file that registers an SDK of OpenTelemetry: the processes of the server and those of jobs ' +
      'import it (docs/tracing.md).',
  },
  {
    ...named('url', 'LONGSHORE_URL', 'client', 'url'),
    kind: { type: 'url', protocols: ['http:', 'https:'] },
    fallback: defaultUrl,
    fallbackText: '`http://127.0.0.1:4400`, following host and port',
    meaning: 'The server that the client commands talk to.',
  },
  {
    ...named('apiKey', 'LONGSHORE_API_KEY', 'client', 'key'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    secret: true,
    meaning: 'Sent by the client commands as `Authorization: Bearer`.',
  },
  {
    ...named('tenant', 'LONGSHORE_TENANT', 'client', 'name'),
    kind: { type: 'text' },
    ...fallback(null, "the key's own"),
    meaning: 'The tenant to act for; only an admin key of the default tenant may name another.',
  },
];

/** Set by Longshore for the commands it runs, so a job may call `longshore enqueue` in its turn. */
export const CHILD_VARIABLES: readonly string[] = [
  'LONGSHORE_PARAMS_FILE',
  'LONGSHORE_JOB_ID',
  'LONGSHORE_ATTEMPT',
];

/** Null for a secret, which has none. */
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
