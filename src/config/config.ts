export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const LOG_FORMATS = ['json', 'text'] as const;

export const POOLERS = ['none', 'transaction'] as const;

/** What happens to a job whose definition no worker has registered. */
export const UNREGISTERED = ['accept', 'reject'] as const;
export const INLINE_JOBS = ['own-user', 'always'] as const;

/** Whether workers serve deployed code: besides their folder, or instead of it. */
export const DEPLOYMENTS = ['auto', 'off', 'also', 'only'] as const;

export const ON_OFF = ['off', 'on'] as const;

export const ENVIRONMENT_COLORS = ['red', 'amber', 'green', 'blue', 'violet', 'grey'] as const;

export interface Config {
  databaseUrl: string | null;
  pooler: (typeof POOLERS)[number];
  redisUrl: string | null;
  redisLeaseMs: number;
  host: string;
  port: number;
  allowedHosts: string | null;
  trustedProxies: string | null;
  metricsHost: string;
  metricsPort: number | null;
  environment: string | null;
  environmentColor: (typeof ENVIRONMENT_COLORS)[number];
  keyRequestsPerSecond: number;
  addressRequestsPerSecond: number;
  tenantQueuedMax: number;
  tenantQueuedBytesMax: number;
  tenantSchedulesMax: number;
  tenantWebhooksMax: number;
  jobs: string;
  data: string;
  deployments: (typeof DEPLOYMENTS)[number];
  artifacts: string;
  artifactCache: string | null;
  artifactKeys: string | null;
  reports: string | null;
  reportSecret: string | null;
  tenantDeploys: (typeof ON_OFF)[number];
  concurrency: number;
  workers: string;
  leaseMs: number;
  heartbeatMs: number;
  cancelGraceMs: number;
  drainMs: number;
  pollMs: number;
  ageingMs: number;
  logMaxBytes: number;
  streamMaxBytes: number;
  largeValuesMaxBytes: number;
  runnerMaxJobs: number;
  runnerEnv: string | null;
  runnerUids: string;
  runnerMemoryMb: number;
  inlineJobs: (typeof INLINE_JOBS)[number];
  unservedAfterMs: number;
  unregistered: (typeof UNREGISTERED)[number];
  webhookAllow: string | null;
  brokers: string | null;
  alerts: string | null;
  smtpUrl: string | null;
  alertFrom: string | null;
  publicUrl: string | null;
  oidcIssuer: string | null;
  oidcClientId: string | null;
  oidcClientSecret: string | null;
  oidcGroups: string | null;
  oidcGroupsClaim: string;
  oidcScopes: string;
  encryptionKeys: string | null;
  retentionDays: number;
  deadLetterDays: number;
  auditDays: number;
  usageDays: number;
  bulkDays: number;
  idempotencyDays: number;
  shards: number;
  logLevel: (typeof LOG_LEVELS)[number];
  logFormat: (typeof LOG_FORMATS)[number];
  logJobs: string;
  tracing: string | null;
  url: string;
  apiKey: string | null;
  tenant: string | null;
}

export type SettingKey = keyof Config;
