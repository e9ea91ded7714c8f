/**
 * An alert says that something is wrong which no job can say of itself. A rule measures one thing, for
 * each definition or schedule by itself; when the value reaches the threshold it fires, once, and when it
 * has stayed below for a while it is resolved, once. What is measured is in `store/counters/alert-probes.ts`.
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
  /** What it says, as people read it. */
  description: string;
  unit: AlertUnit;
  threshold: number;
  /** How far back it counts; null when it measures this moment. */
  windowSeconds: number | null;
  /** Whether it can be set for one definition. */
  perDefinition: boolean;
  /** About the server itself, hence told to the host tenant only. */
  ofHost: boolean;
}

const HOUR_SECONDS = 3_600;

/** A share of fewer retries than these says nothing: of one attempt that failed it is all. */
export const RETRY_RATE_MIN = 20;
/** A job that has used so much of its time limit is stuck. */
export const STUCK_SHARE = 0.8;
/** A lease that has been over for so long should have been noticed by the reaper. */
export const LEASE_OVER_SECONDS = 60;
/** So late a schedule is looked after even on a busy day. */
export const SCHEDULE_LATE_SECONDS = 120;

const ABOUT_JOBS = { perDefinition: true, ofHost: false } as const;

export const ALERT_RULES: Readonly<Record<AlertRuleName, AlertRuleKind>> = {
  'dead-letters': {
    description: 'Jobs of a definition that failed for good, within the window.',
    unit: 'jobs',
    threshold: 10,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  retries: {
    description: 'Attempts of a definition that failed and are made again, within the window.',
    unit: 'retries',
    threshold: 100,
    windowSeconds: 600,
    ...ABOUT_JOBS,
  },
  'retry-rate': {
    description:
      'How many of the attempts of a definition failed and are made again, within the window; fewer ' +
      `than ${RETRY_RATE_MIN} are nothing.`,
    unit: 'percent',
    threshold: 50,
    windowSeconds: HOUR_SECONDS,
    ...ABOUT_JOBS,
  },
  stuck: {
    description:
      `Running jobs of a definition that have used ${STUCK_SHARE * 100} % of their timeout, or whose ` +
      `worker's lease has been over for ${LEASE_OVER_SECONDS} s without anybody taking them over.`,
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
    description: 'How long a job has been queued while no living worker has its definition.',
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

/** Counting stops there: whoever wants to know of more wants to know much earlier. */
export const THRESHOLD_MAX = 10_000;
export const SECONDS_MAX = 30 * 24 * HOUR_SECONDS;

export function thresholdMax(rule: AlertRuleName): number {
  const { unit } = ALERT_RULES[rule];
  if (unit === 'percent') return 100;
  return unit === 'seconds' ? SECONDS_MAX : THRESHOLD_MAX;
}

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** An alert as the outside sees it. */
export interface AlertView {
  id: string;
  rule: AlertRuleName;
  tenant: string;
  status: AlertStatus;
  definitionKey: string | null;
  scheduleId: string | null;
  /** One job of those that it is about. */
  jobId: string | null;
  since: string;
  resolvedAt: string | null;
  value: number;
  threshold: number;
  unit: AlertUnit;
  /** One sentence that says what is wrong. */
  message: string;
}

/** Who decided: the code, the configuration, or somebody through the API. */
export type AlertRuleSource = 'default' | 'config' | 'api';

/** A rule as the outside sees it, and as it holds. */
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
