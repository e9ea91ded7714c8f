import {
  ALERT_RULE_NAMES,
  ALERT_RULES,
  type AlertRuleName,
  type AlertRuleSource,
  type AlertRuleView,
  type AlertSeverity,
  RETRY_RATE_MIN,
  thresholdMax,
  windowSecondsMax,
} from './alert.ts';
import { growthPercent, p95Ms, type Times, timesSum } from './latency.ts';
import { duration } from '../values/duration.ts';
import { DEFAULT_TENANT } from '../access/scope.ts';

/** The settings of a rule. Null falls back to the more general setting. */
export interface AlertChange {
  threshold: number | null;
  windowSeconds: number | null;
  enabled: boolean | null;
  severity: AlertSeverity | null;
}

export interface TenantRule extends AlertChange {
  tenant: string;
  rule: AlertRuleName;
  /** Null: all definitions. */
  definitionKey: string | null;
  updatedAt: string | null;
}

/** The defaults of the configuration, for all tenants. */
export type AlertDefaults = Partial<Record<AlertRuleName, Partial<AlertChange>>>;

export interface EffectiveRule {
  enabled: boolean;
  threshold: number;
  windowSeconds: number | null;
  severity: AlertSeverity;
}

/** A measured value, before it is compared with a threshold. */
export interface Finding {
  rule: AlertRuleName;
  tenant: string;
  definitionKey: string | null;
  scheduleId: string | null;
  webhookId?: string;
  jobId: string | null;
  value: number;
  /** The total, when the rule is about a share. */
  outOf?: number;
  /** The histograms, when the rule is about a p95; then `value` is made from them. */
  times?: Times;
  /** What it is about within the rule, where neither definition nor schedule says it. */
  subject?: string;
  /** The rest of the message, where the number alone is not enough; of a schedule, its name or cron. */
  detail?: string | undefined;
  /** It keeps an alert that fires, and fires none. */
  onlyConfirms?: true;
}

export interface Firing extends Finding {
  subject: string;
  threshold: number;
  severity: AlertSeverity;
  message: string;
}

/**
 * The effective rules, field by field: the tenant's setting for the definition, then for all
 * definitions, then the configuration, then the code.
 */
export class AlertRules {
  readonly #stored = new Map<string, TenantRule>();
  readonly #defaults: AlertDefaults;

  constructor(stored: readonly TenantRule[], defaults: AlertDefaults) {
    for (const rule of stored) this.#stored.set(ruleKey(rule), rule);
    this.#defaults = defaults;
  }

  of(rule: AlertRuleName, tenant: string, definitionKey: string | null): EffectiveRule {
    const { threshold, windowSeconds, needsThreshold } = ALERT_RULES[rule];
    const words: (Partial<AlertChange> | undefined)[] = [
      definitionKey === null
        ? undefined
        : this.#stored.get(ruleKey({ tenant, rule, definitionKey })),
      this.#stored.get(ruleKey({ tenant, rule, definitionKey: null })),
      this.#defaults[rule],
    ];
    const settingOf = <Field extends keyof AlertChange>(field: Field) =>
      words.map((word) => word?.[field]).find((value) => value !== undefined && value !== null);
    const wanted = settingOf('threshold');
    return {
      enabled: settingOf('enabled') ?? (!needsThreshold || wanted !== undefined),
      threshold: wanted ?? threshold,
      windowSeconds: windowSeconds === null ? null : (settingOf('windowSeconds') ?? windowSeconds),
      severity: settingOf('severity') ?? 'warning',
    };
  }

  /** The longest window of any rule. */
  windowSecondsMax(rule: AlertRuleName): number {
    const asked = [...this.#stored.values()]
      .filter((stored) => stored.rule === rule)
      .map(({ windowSeconds }) => windowSeconds ?? 0);
    return Math.max(this.of(rule, '', null).windowSeconds ?? 0, ...asked);
  }

  /** The smallest threshold of any rule; infinite when all are off. */
  thresholdMin(rule: AlertRuleName): number {
    const scopes = [...this.#stored.values()].filter((stored) => stored.rule === rule);
    const all = [{ tenant: '', definitionKey: null }, ...scopes];
    return Math.min(
      ...all
        .map(({ tenant, definitionKey }) => this.of(rule, tenant, definitionKey))
        .map(({ enabled, threshold }) => (enabled ? threshold : Infinity)),
    );
  }

  /** The rules of a tenant: those for all definitions, and those for one. */
  list(tenant: string): AlertRuleView[] {
    const own = [...this.#stored.values()].filter((stored) => stored.tenant === tenant);
    return rulesOf(tenant).flatMap((rule) => [
      this.view(tenant, rule, null),
      ...own
        .filter((stored) => stored.rule === rule && stored.definitionKey !== null)
        .map(({ definitionKey }) => this.view(tenant, rule, definitionKey)),
    ]);
  }

  view(tenant: string, rule: AlertRuleName, definitionKey: string | null): AlertRuleView {
    const { description, unit } = ALERT_RULES[rule];
    const stored = this.#stored.get(ruleKey({ tenant, rule, definitionKey }));
    const source: AlertRuleSource = stored ? 'api' : this.#defaults[rule] ? 'config' : 'default';
    const held = this.of(rule, tenant, definitionKey);
    const updatedAt = stored?.updatedAt ?? null;
    return { rule, definitionKey, description, unit, ...held, source, updatedAt };
  }
}

/** The configuration in one line: `dead-letters=50/3600,vacuum=off`. Null when invalid. */
export function parseAlertDefaults(text: string): AlertDefaults | null {
  const defaults: AlertDefaults = {};
  for (const entry of text.split(',')) {
    const [, name = '', word = '', seconds] =
      /^\s*([a-z0-9-]+)\s*=\s*(off|[1-9]\d{0,9})(?:\/([1-9]\d{0,6}))?\s*$/.exec(entry) ?? [];
    const rule = ALERT_RULE_NAMES.find((known) => known === name);
    if (rule === undefined || rule in defaults) return null;
    const threshold = word === 'off' ? null : Number(word);
    const windowSeconds = seconds === undefined ? null : Number(seconds);
    if (threshold !== null && threshold > thresholdMax(rule)) return null;
    if (
      windowSeconds !== null &&
      (threshold === null || ALERT_RULES[rule].windowSeconds === null)
    ) {
      return null;
    }
    if (windowSeconds !== null && windowSeconds > windowSecondsMax(rule)) return null;
    defaults[rule] = { threshold, windowSeconds, enabled: threshold !== null };
  }
  return defaults;
}

/** The rules of a tenant. Rules about the server belong to the default tenant. */
export function rulesOf(tenant: string): AlertRuleName[] {
  return ALERT_RULE_NAMES.filter(
    (rule) => !ALERT_RULES[rule].ofDefaultTenant || tenant === DEFAULT_TENANT,
  );
}

/**
 * The findings that reach their threshold. Versions and shards of a definition are merged: counts
 * add up, of ages the greatest counts.
 */
export function judge(findings: readonly Finding[], rules: AlertRules): Firing[] {
  const subjects = new Map<string, Finding>();
  for (const finding of findings) {
    const name = [finding.tenant, finding.rule, subjectOf(finding)].join('\n');
    const before = subjects.get(name);
    subjects.set(name, before ? merged(before, finding) : finding);
  }
  const firing = [...subjects.values()].flatMap((finding) => {
    const rule = rules.of(finding.rule, finding.tenant, finding.definitionKey);
    const value = measured(finding);
    if (!rule.enabled || value < rule.threshold) return [];
    const { threshold, severity } = rule;
    const message = sentenceOf({ ...finding, value }, rule);
    return { ...finding, value, subject: subjectOf(finding), threshold, severity, message };
  });
  // A job that no worker can run is old as well: one alert says both.
  const jobOf = ({ tenant, definitionKey, jobId }: Firing) =>
    [tenant, definitionKey, jobId].join('\n');
  const unserved = new Set(firing.filter(({ rule }) => rule === 'unserved').map(jobOf));
  const news = firing.filter((one) => one.rule !== 'oldest-age' || !unserved.has(jobOf(one)));
  const groups = Map.groupBy(news, ({ tenant, rule }) => `${tenant}\n${rule}`);
  return [...groups.values()].flatMap((group) => [
    ...bounded(group.filter(({ onlyConfirms }) => !onlyConfirms)),
    ...bounded(group.filter(({ onlyConfirms }) => onlyConfirms)),
  ]);
}

/** Per rule and tenant. A caller that invents definition keys could cause thousands of alerts. */
export const FIRING_MAX = 50;

/**
 * The worst ones, and one alert with the number of the rest. Ties are broken by name, so the next
 * check finds the same ones and resolves none by accident.
 */
function bounded(firing: readonly Firing[]): readonly Firing[] {
  const [first] = firing;
  if (!first || firing.length <= FIRING_MAX) return firing;
  const worst = firing.toSorted((a, b) => b.value - a.value || (a.subject < b.subject ? -1 : 1));
  const more = firing.length - (FIRING_MAX - 1);
  const others: Firing = {
    ...(worst[FIRING_MAX - 1] ?? first),
    definitionKey: null,
    scheduleId: null,
    jobId: null,
    subject: '',
    message: `${first.rule}: ${more} more definitions, schedules or webhooks of this tenant are over the threshold`,
  };
  return [...worst.slice(0, FIRING_MAX - 1), others];
}

/** In percent of the total. A retry may belong to an attempt that started before the window. */
function measured({ rule, value, outOf, times }: Finding): number {
  if (times) {
    if (ALERT_RULES[rule].unit === 'percent') return growthPercent(times);
    return Math.round(p95Ms(times.now) ?? 0);
  }
  if (outOf === undefined) return value;
  return value < RETRY_RATE_MIN ? 0 : Math.min(100, Math.round((100 * value) / outOf));
}

function merged(one: Finding, other: Finding): Finding {
  if (one.onlyConfirms !== other.onlyConfirms) return one.onlyConfirms ? other : one;
  const greater = other.value > one.value ? other : one;
  if (one.times && other.times) return { ...one, times: timesSum(one.times, other.times) };
  if (ALERT_RULES[one.rule].unit === 'seconds') return greater;
  const sum = { ...greater, value: one.value + other.value };
  if (one.outOf === undefined || other.outOf === undefined) return sum;
  return { ...sum, outOf: one.outOf + other.outOf };
}

function subjectOf({ subject, definitionKey, scheduleId, webhookId }: Finding): string {
  return subject ?? webhookId ?? scheduleId ?? definitionKey ?? '';
}

function sentenceOf(finding: Finding, { threshold, windowSeconds }: EffectiveRule): string {
  const { rule, definitionKey: key, detail } = finding;
  const value = Math.round(finding.value);
  const within = windowSeconds === null ? '' : ` within ${seconds(windowSeconds)}`;
  const suffix = detail === undefined ? '' : `: ${detail}`;
  switch (rule) {
    case 'dead-letters':
      return `${many(value, 'job')} of ${key} failed for good${within} (threshold ${threshold})`;
    case 'retries':
      return `${many(value, 'attempt')} of ${key} failed and were retried${within} (threshold ${threshold})`;
    case 'retry-rate':
      return `${value} % of the attempts of ${key} failed and were retried${within} (threshold ${threshold} %)`;
    case 'stuck':
      return `${many(value, 'running job')} of ${key} ${value === 1 ? 'is' : 'are'} stuck${suffix}`;
    case 'oldest-age':
      return `a job of ${key} has been queued for ${seconds(value)} (threshold ${seconds(threshold)})`;
    case 'unserved':
      return `a job of ${key} has been queued for ${seconds(value)}, and no live worker has its definition`;
    case 'schedule-missed':
      return `the schedule ${detail === undefined ? '' : `“${detail}” `}of ${key} missed ${many(value, 'run')}${within}`;
    case 'canary-stopped':
      return `${value} ${value === 1 ? 'canary' : 'canaries'} of ${key} stopped itself${within}${suffix}`;
    case 'dead-letter-size':
      return `${key} has ${many(value, 'dead letter')} (threshold ${threshold})`;
    case 'wait-p95':
      return `95 % of the jobs of ${key} waited up to ${duration(value)}${within} (threshold ${duration(threshold)})`;
    case 'run-p95':
      return `95 % of the attempts of ${key} ran up to ${duration(value)}${within} (threshold ${duration(threshold)})`;
    case 'wait-growth':
      return `jobs of ${key} wait ${value} % as long as a week ago (threshold ${threshold} %)${thenAndNow(finding)}`;
    case 'run-growth':
      return `attempts of ${key} run ${value} % as long as a week ago (threshold ${threshold} %)${thenAndNow(finding)}`;
    case 'budget-warning':
    case 'budget-exceeded':
      return `${value} % of a budget is used${suffix} (threshold ${threshold} %)`;
    case 'webhook-failing':
      return `a webhook has failed for ${seconds(value)}${suffix}`;
    case 'vacuum':
      return detail ?? `vacuum has been held back for ${seconds(value)}`;
  }
}

function thenAndNow({ times }: Finding): string {
  const [now, then] = [p95Ms(times?.now ?? []), p95Ms(times?.weekAgo ?? [])];
  if (now === null || then === null) return '';
  return `: p95 ${duration(now)}, then ${duration(then)}`;
}

function seconds(count: number): string {
  return duration(count * 1_000);
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function ruleKey(rule: Pick<TenantRule, 'tenant' | 'rule' | 'definitionKey'>): string {
  return [rule.tenant, rule.rule, rule.definitionKey ?? ''].join('\n');
}
