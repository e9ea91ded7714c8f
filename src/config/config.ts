export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const POOLERS = ['none', 'transaction'] as const;

export const INLINE_JOBS = ['own-user', 'always'] as const;

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
  keyRequestsPerSecond: number;
  addressRequestsPerSecond: number;
  tenantQueuedMax: number;
  tenantQueuedBytesMax: number;
  tenantSchedulesMax: number;
  tenantWebhooksMax: number;
  jobs: string;
  data: string;
  concurrency: number;
  leaseMs: number;
  heartbeatMs: number;
  cancelGraceMs: number;
  drainMs: number;
  pollMs: number;
  ageingMs: number;
  logMaxBytes: number;
  runnerMaxJobs: number;
  runnerEnv: string | null;
  runnerUids: string;
  runnerMemoryMb: number;
  inlineJobs: (typeof INLINE_JOBS)[number];
  unhandledAfterMs: number;
  webhookAllow: string | null;
  alerts: string | null;
  encryptionKeys: string | null;
  retentionDays: number;
  deadLetterDays: number;
  auditDays: number;
  bulkDays: number;
  shards: number;
  logLevel: (typeof LOG_LEVELS)[number];
  logJobs: string;
  tracing: string | null;
  url: string;
  apiKey: string | null;
  tenant: string | null;
}

export type SettingKey = keyof Config;
