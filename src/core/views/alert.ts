/**
 * An alert reports a problem that no single job shows. A rule measures one value per definition or
 * schedule. It fires once when the value reaches the threshold, and is resolved once when it has
 * stayed below for a while. The measurements are in `store/counters/alert-probes.ts`.
 */

export const ALERT_RULE_NAMES = [
  'dead-letters',
  'retries',
  'retry-rate',
  'stuck',
  'oldest-age',
  'no-worker',
  'schedule-missed',
  'vacuum',
] as const;
export type AlertRuleName = (typeof ALERT_RULE_NAMES)[number];

export type AlertUnit = 'jobs' | 'retries' | 'percent' | 'seconds' | 'slots';

export interface AlertRuleKind {
  /** The description for people. */
  description: string;
  unit: AlertUnit;
  threshold: number;
  /** The time window; null for a current value. */
  windowSeconds: number | null;
  /** Whether it can be set for one definition. */
  perDefinition: boolean;
  /** About the server itself, so shown to the host tenant only. */
  ofHost: boolean;
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

const ABOUT_JOBS = { perDefinition: true, ofHost: false } as const;

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
      'The share of attempts of a definition that failed and are retried, within the window; fewer ' +
      `than ${RETRY_RATE_MIN} are nothing.`,
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
  'no-worker': {
    description: 'How long a job has been queued while no live worker has its definition.',
    unit: 'seconds',
    threshold: 120,
    windowSeconds: null,
    ...ABOUT_JOBS,
  },
  'schedule-missed': {
    description:
      'Slots of a schedule that came and went without a job, within the window; one that is due for ' +
      `${SCHEDULE_LATE_SECONDS} s counts, too.`,
    unit: 'slots',
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
    ofHost: true,
  },
};

/** Counting stops here. */
export const THRESHOLD_MAX = 10_000;
export const SECONDS_MAX = 30 * 24 * HOUR_SECONDS;

export function thresholdMax(rule: AlertRuleName): number {
  const { unit } = ALERT_RULES[rule];
  if (unit === 'percent') return 100;
  return unit === 'seconds' ? SECONDS_MAX : THRESHOLD_MAX;
}

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** An alert as shown by the API. */
export interface AlertView {
  id: string;
  rule: AlertRuleName;
  tenant: string;
  status: AlertStatus;
  definitionKey: string | null;
  scheduleId: string | null;
  /** One of the jobs that it is about. */
  jobId: string | null;
  since: string;
  resolvedAt: string | null;
  value: number;
  threshold: number;
  unit: AlertUnit;
  /** One sentence that describes the problem. */
  message: string;
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
  source: AlertRuleSource;
  updatedAt: string | null;
}
