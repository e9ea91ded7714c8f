import type { AlertView } from '../../../src/core/alert/alert.ts';
import type { PublishedDefinition } from '../../../src/client/job.ts';
import type { DeadLetterGroup } from '../../../src/core/failure/dead-letter.ts';
import { JOB_STATES, type JobView } from '../../../src/core/job/job.ts';
import { NO_LIMITS } from '../../../src/core/queue/limits.ts';
import type { ScheduleView } from '../../../src/core/schedule/schedule.ts';
import type { DefinitionStats, StateCounts } from '../../../src/core/views/stats.ts';
import type { WebhookView } from '../../../src/core/webhook/webhook.ts';
import type { HeldJob, WorkerView } from '../../../src/core/queue/worker.ts';

/** Sample data for tests; each test overrides what it is about. */
export const NOW = new Date('2030-01-01T12:00:00Z');

export const ago = (seconds: number): string =>
  new Date(NOW.getTime() - seconds * 1_000).toISOString();

export function madeJob(over: Partial<JobView> = {}): JobView {
  const plain: Partial<JobView> = {
    jobId: '01980000-0000-7000-8000-000000000000',
    definitionKey: 'hello',
    definitionVersion: 1,
    tenant: 'default',
    owner: null,
    status: 'queued',
    priority: 0,
    attempts: 0,
    maxAttempts: 3,
    tags: [],
    params: {},
    paramsShape: 1,
    currentParamsShape: 1,
    result: null,
    error: null,
    errorSummary: null,
    progress: null,
    idempotencyKey: null,
    concurrencyKey: null,
    scheduleId: null,
    scheduledFor: null,
    warnings: [],
    createdAt: ago(60),
    queuedAt: ago(60),
    runAt: null,
    startedAt: null,
    finishedAt: null,
    updatedAt: ago(60),
    heartbeatAt: null,
    leaseExpiresAt: null,
    cancelRequestedAt: null,
    workerId: null,
  };
  return { ...plain, ...over } as JobView;
}

export function madeWorker(over: Partial<WorkerView> = {}): WorkerView {
  const plain: Partial<WorkerView> = {
    workerId: 'w',
    host: 'box',
    pid: 7,
    version: '1.0.0',
    slots: 4,
    running: [],
    jobs: [],
    busy: 0,
    heartbeatAt: ago(2),
    leaseExpiresAt: ago(-28),
    startedAt: ago(600),
    status: 'active',
    definitions: ['hello@1'],
    notLoaded: [],
    lost: false,
    endedBy: null,
  };
  return { ...plain, ...over } as WorkerView;
}

/** A job that a worker holds. */
export function madeHeld(over: Partial<HeldJob> = {}): HeldJob {
  return {
    jobId: '01980000-0000-7000-8000-000000000000',
    definitionKey: 'hello',
    definitionVersion: 1,
    tenant: 'default',
    startedAt: ago(5),
    ...over,
  };
}

export function madeDefinition(over: Partial<PublishedDefinition> = {}): PublishedDefinition {
  const plain: Partial<PublishedDefinition> = {
    key: 'hello',
    version: 1,
    owner: null,
    description: null,
    runbookUrl: null,
    maxAttempts: 3,
    timeoutSeconds: 100,
    stallTimeoutMs: null,
    retry: { baseMs: 1_000, maxMs: 60_000, jitter: 0.1 },
    retryOn: null,
    cancelGraceMs: null,
    maxInterruptions: 10,
    isolation: 'process',
    memoryMb: null,
    hooks: [],
    command: null,
    schedules: [],
    paramsSchema: null,
    paramsShape: 1,
    group: null,
    publishedAt: ago(600),
    limits: {
      effective: NO_LIMITS,
      code: NO_LIMITS,
      override: {},
      changedBy: null,
      changedAt: null,
      inUse: 0,
    },
    paused: null,
  };
  return { ...plain, ...over } as PublishedDefinition;
}

export function madeSchedule(over: Partial<ScheduleView> = {}): ScheduleView {
  const plain: Partial<ScheduleView> = {
    id: '01980000-0000-7000-8000-000000000001',
    tenant: 'default',
    name: 'nightly',
    definitionKey: 'hello',
    definitionVersion: null,
    cron: '0 3 * * *',
    timezone: 'UTC',
    params: {},
    priority: 0,
    enabled: true,
    startAt: null,
    endAt: null,
    jitterMs: 0,
    dstGap: 'shift',
    dstRepeat: 'once',
    catchUp: 'latest',
    catchUpWindowMs: 0,
    catchUpMax: 1,
    overlap: 'allow',
    source: 'api',
    note: null,
    paused: null,
    createdAt: ago(6_000),
    updatedAt: ago(6_000),
    lastEnqueuedAt: null,
    nextAt: ago(-600),
    lastSlot: null,
  };
  return { ...plain, ...over } as ScheduleView;
}

export function madeGroup(over: Partial<DeadLetterGroup> = {}): DeadLetterGroup {
  return {
    fingerprint: 'f',
    code: 'HANDLER_ERROR',
    message: 'it broke',
    cause: null,
    count: 1,
    countIsExact: true,
    firstSeen: ago(600),
    lastSeen: ago(60),
    definitionKeys: ['hello'],
    versions: [1],
    jobId: '01980000-0000-7000-8000-000000000000',
    trend: [],
    definitions: [{ definitionKey: 'hello', count: 1, trend: [] }],
    ...over,
  };
}

export function madeStats(over: Partial<DefinitionStats> = {}): DefinitionStats {
  const none = { p50: null, p95: null, p99: null };
  return {
    key: 'hello',
    depth: 0,
    running: 0,
    states: Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as StateCounts,
    oldestAgeMs: null,
    oldestJobId: '01980000-0000-7000-8000-000000000000',
    unserved: null,
    successRate: null,
    failureRate: null,
    waitMs: none,
    runMs: none,
    retries: 0,
    ...over,
  };
}

export function madeAlert(over: Partial<AlertView> = {}): AlertView {
  return {
    id: 'a',
    rule: 'stuck',
    tenant: 'default',
    status: 'firing',
    severity: 'warning',
    definitionKey: 'hello',
    scheduleId: null,
    webhookId: null,
    jobId: null,
    owner: null,
    runbookUrl: null,
    since: ago(60),
    resolvedAt: null,
    value: 1,
    threshold: 1,
    unit: 'jobs',
    message: 'something is wrong',
    silenced: null,
    ...over,
  };
}

export function madeWebhook(over: Partial<WebhookView> = {}): WebhookView {
  return {
    id: '01980000-0000-7000-8000-000000000002',
    tenant: 'default',
    url: 'http://shop.example/hooks/orders',
    format: 'cloudevents',
    description: null,
    events: ['job.failed'],
    definitionKeys: null,
    tags: null,
    status: 'active',
    notice: null,
    failures: 0,
    failingSince: null,
    lastError: null,
    waitingEvents: null,
    previousSecretUntil: null,
    createdAt: ago(6_000),
    updatedAt: ago(6_000),
    ...over,
  };
}
