/**
 * An alert reports a problem that no single job shows. A rule measures one value per definition or
 * schedule. It fires once when the value reaches the threshold, and is resolved once when it has
 * stayed below for a while. The measurements are in `store/alerts/alert-probes.ts`.
 */

export const ALERT_RULE_NAMES = [
  'dead-letters',
  'retries',
  'retry-rate',
  'stuck',
  'oldest-age',
  'unserved',
  'schedule-missed',
  'canary-stopped',
  'vacuum',
  'dead-letter-size',
  'wait-p95',
  'run-p95',
  'wait-growth',
  'run-growth',
  'budget-warning',
  'budget-exceeded',
  'webhook-failing',
] as const;
export type AlertRuleName = (typeof ALERT_RULE_NAMES)[number];

export const ALERT_UNITS = [
  'jobs',
  'retries',
  'percent',
  'seconds',
  'milliseconds',
  'slots',
  'canaries',
] as const;
export type AlertUnit = (typeof ALERT_UNITS)[number];

/** A critical alert is sent during quiet hours, too. */
export const ALERT_SEVERITIES = ['warning', 'critical'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

export interface AlertRuleKind {
  /** The description for people. */
  description: string;
  unit: AlertUnit;
  threshold: number;
  /** The greatest threshold; without it, the unit decides. */
  thresholdMax?: number;
  /** The time window; null for a current value. */
  windowSeconds: number | null;
  windowSecondsMax?: number;
  /** Off until a threshold is set: no bound fits every definition. */
  needsThreshold?: true;
  /** Whether it can be set for one definition. */
  perDefinition: boolean;
  /** About the server itself, so shown to the default tenant only. */
  ofDefaultTenant: boolean;
}

const HOUR_SECONDS = 3_600;

/** With fewer attempts the share means nothing: one failed attempt would be 100 %. */
export const RETRY_RATE_MIN = 20;
/** A job that has used this share of its time limit is stuck. */
export const STUCK_SHARE = 0.8;
/** The reaper should notice an expired lease within this time. */
export const LEASE_OVER_SECONDS = 60;
/** The lateness of a schedule that is normal under load. */
export const SCHEDULE_LATE_SECONDS = 120;

/** With fewer times in the window (and in that of last week) a p95 means nothing. */
export const LATENCY_TIMES_MIN = 20;
/** A p95 below this never counts as grown: a few milliseconds more are noise. */
export const GROWTH_FLOOR_MS = 1_000;

const ABOUT_JOBS = { perDefinition: true, ofDefaultTenant: false } as const;

const LATENCY = {
  windowSeconds: HOUR_SECONDS,
  // Quarters of an hour are kept for a day (`store/counters/roll-up.ts`).
  windowSecondsMax: 24 * HOUR_SECONDS,
  needsThreshold: true,
  ...ABOUT_JOBS,
} as const;
const BOUND = { unit: 'milliseconds', threshold: 60_000, ...LATENCY } as const;
const GROWTH = { unit: 'percent', threshold: 300, thresholdMax: 10_000, ...LATENCY } as const;
const BUDGET = {
  unit: 'percent',
  thresholdMax: 10_000,
  windowSeconds: null,
  ...ABOUT_JOBS,
} as const;
const ENOUGH = `counted only from ${LATENCY_TIMES_MIN} in the window on`;

export const ALERT_RULES: Readonly<Record<AlertRuleName, AlertRuleKind>> = {
  'dead-letters': {
    description: 'Jobs of a definition that failed for good within the window.',
    unit: 'jobs',
    threshold: 10,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  retries: {
    description: 'Attempts of a definition that failed and are retried, within the window.',
    unit: 'retries',
    threshold: 100,
    windowSeconds: 600,
    ...ABOUT_JOBS,
  },
  'retry-rate': {
    description:
      'The share of attempts of a definition that failed and are retried, within the window; counted ' +
      `only from ${RETRY_RATE_MIN} such attempts on.`,
    unit: 'percent',
    threshold: 50,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  stuck: {
    description:
      `Running jobs of a definition that have used ${STUCK_SHARE * 100} % of their timeout, or whose ` +
      `worker's lease has been over for ${LEASE_OVER_SECONDS} s without recovery.`,
    unit: 'jobs',
    threshold: 1,
    windowSeconds: null,
    ...ABOUT_JOBS,
  },
  'oldest-age': {
    description: 'How long the oldest job of a definition has been queued, while it is not paused.',
    unit: 'seconds',
    threshold: 900,
    windowSeconds: null,
    ...ABOUT_JOBS,
  },
  unserved: {
    description: 'How long a job has been queued while no live worker has its definition.',
    unit: 'seconds',
    threshold: 120,
    windowSeconds: null,
    ...ABOUT_JOBS,
  },
  'schedule-missed': {
    description:
      'Slots of a schedule that passed without a job, within the window; one that is due for ' +
      `${SCHEDULE_LATE_SECONDS} s counts, too.`,
    unit: 'slots',
    threshold: 1,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  'canary-stopped': {
    description:
      'A canary of a definition that stopped itself within the window, because its attempts failed ' +
      'clearly more often; until the next release.',
    unit: 'canaries',
    threshold: 1,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  vacuum: {
    description: 'How long something has kept vacuum from removing dead rows.',
    unit: 'seconds',
    threshold: 600,
    windowSeconds: null,
    perDefinition: false,
    ofDefaultTenant: true,
  },
  'dead-letter-size': {
    description: 'The number of dead letters of a definition, however old.',
    unit: 'jobs',
    threshold: 1_000,
    thresholdMax: 1_000_000,
    windowSeconds: null,
    ...ABOUT_JOBS,
  },
  'wait-p95': {
    description: `How long 95 % of the jobs of a definition waited at most before they started; ${ENOUGH}.`,
    ...BOUND,
  },
  'run-p95': {
    description: `How long 95 % of the attempts of a definition ran at most; ${ENOUGH}.`,
    ...BOUND,
  },
  'wait-growth': {
    description: 'wait-p95 in percent of the same hours a week ago, if it is a second or more.',
    ...GROWTH,
  },
  'run-growth': {
    description: 'run-p95 in percent of the same hours a week ago, if it is a second or more.',
    ...GROWTH,
  },
  'budget-warning': {
    description: 'How much of a budget is used in its day or month.',
    threshold: 80,
    ...BUDGET,
  },
  'budget-exceeded': {
    description: 'How much of a budget is used, from all of it on. No job is stopped.',
    threshold: 100,
    ...BUDGET,
  },
  'webhook-failing': {
    description: 'How long every send of an active webhook has failed.',
    unit: 'seconds',
    threshold: 300,
    windowSeconds: null,
    perDefinition: false,
    ofDefaultTenant: false,
  },
};

/** Counting stops here. */
export const THRESHOLD_MAX = 10_000;
export const SECONDS_MAX = 30 * 24 * HOUR_SECONDS;
export const MILLISECONDS_MAX = SECONDS_MAX * 1_000;

export function thresholdMax(rule: AlertRuleName): number {
  const { unit, thresholdMax: max } = ALERT_RULES[rule];
  if (max !== undefined) return max;
  if (unit === 'percent') return 100;
  if (unit === 'milliseconds') return MILLISECONDS_MAX;
  return unit === 'seconds' ? SECONDS_MAX : THRESHOLD_MAX;
}

export function windowSecondsMax(rule: AlertRuleName): number {
  return ALERT_RULES[rule].windowSecondsMax ?? SECONDS_MAX;
}

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

export interface AlertSilence {
  /** Null: until it is resolved. */
  until: string | null;
  by: string;
}

/** An alert as shown by the API. */
export interface AlertView {
  id: string;
  rule: AlertRuleName;
  tenant: string;
  status: AlertStatus;
  severity: AlertSeverity;
  definitionKey: string | null;
  scheduleId: string | null;
  webhookId: string | null;
  /** One of the jobs that it is about. */
  jobId: string | null;
  /** Of the definition, when it fired. */
  owner: string | null;
  runbookUrl: string | null;
  since: string;
  resolvedAt: string | null;
  value: number;
  threshold: number;
  unit: AlertUnit;
  /** One sentence that describes the problem. */
  message: string;
  /** While it is silenced, nothing is sent about it. */
  silenced: AlertSilence | null;
}

/** Where the setting comes from: the code, the configuration, or the API. */
export type AlertRuleSource = 'default' | 'config' | 'api';

/** An effective rule as shown by the API. */
export interface AlertRuleView {
  rule: AlertRuleName;
  /** Null: for every definition that has no rule of its own. */
  definitionKey: string | null;
  description: string;
  unit: AlertUnit;
  enabled: boolean;
  threshold: number;
  windowSeconds: number | null;
  severity: AlertSeverity;
  source: AlertRuleSource;
  updatedAt: string | null;
}
