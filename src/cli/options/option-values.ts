import { InvalidArgumentError } from 'commander';
import { PATTERN_SHAPE } from '../../core/access/key-patterns.ts';
import { ON_PARENT_FAILURE, type OnParentFailure } from '../../core/dependency/dependency.ts';
import { JOB_STATES, type JobState } from '../../core/job/job.ts';
import type { RateLimitInput } from '../../core/queue/limits.ts';
import { parseDuration } from '../../core/values/parse-duration.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { type Scope, SCOPE_NAMES } from '../../core/access/scope.ts';
import type { UniqueWhile } from '../../core/job/unique.ts';
import {
  ALERT_RULE_NAMES,
  ALERT_SEVERITIES,
  type AlertRuleName,
  type AlertSeverity,
} from '../../core/alert/alert.ts';
import { parseHours, type Weekday, WEEKDAYS } from '../../core/alert/quiet-hours.ts';
import { type Chat, CHATS } from '../../core/webhook/chat.ts';
import {
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  type WebhookEvent,
  type WebhookFormat,
} from '../../core/webhook/webhook.ts';
import { toCall } from '../text/next-command.ts';

/** Parsers of option values; commander reports what they throw as a usage error. */

export function whole(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError('Must be a whole number.');
  return Number(value);
}

/** A duration such as `1h`, as seconds. */
export function secondsOf(value: string): number {
  const ms = parseDuration(value);
  if (ms === null || ms < 1_000) throw new InvalidArgumentError('Must look like 30m, 1h or 2d.');
  return Math.round(ms / 1_000);
}

/** Seconds as milliseconds. */
export function secondsAsMs(value: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('Must be a number of seconds.');
  return Math.round(seconds * 1_000);
}

export function uniqueWhile(value: string): UniqueWhile {
  if (value === 'queued' || value === 'active') return value;
  if (/^\d{1,15}$/.test(value)) return { windowMs: Number(value) };
  throw new InvalidArgumentError('Must be queued, active, or a number of milliseconds.');
}

export function onParentFailure(value: string): OnParentFailure {
  const known = ON_PARENT_FAILURE.find((one) => one === value);
  if (known) return known;
  throw new InvalidArgumentError(unknownName('answer', value, ON_PARENT_FAILURE));
}

export function rate(value: string): number {
  const perSecond = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(perSecond)) throw new InvalidArgumentError('Must be a number.');
  return perSecond;
}

/** `none` removes the limit, `code` restores the value of the code. */
export function limitCount(value: string): number | 'code' {
  return value === 'code' ? value : countOrNone(value, '--definition KEY');
}

/** The limit of a tenant is not in code. */
export function tenantLimit(value: string): number {
  return countOrNone(value, '--tenant NAME');
}

/** 0 is "no limit" in the API; who types it may want the opposite. */
function countOrNone(value: string, target: string): number {
  if (value === 'none') return 0;
  const count = whole(value);
  if (count !== 0) return count;
  throw zeroLimit(target);
}

function zeroLimit(target: string): InvalidArgumentError {
  return new InvalidArgumentError(
    '0 would mean no limit: to remove the limit say none; ' +
      `to stop all jobs: ${toCall(`pause ${target}`)}.`,
  );
}

export function spreadCount(value: string): number | 'code' {
  return value === 'code' ? value : whole(value);
}

export function limitRate(value: string): RateLimitInput | 'code' {
  if (value === 'code') return value;
  if (value === 'none') return 0;
  if (/^0+(\/|$)/.test(value)) throw zeroLimit('--definition KEY');
  const [limit, perMs, burst, ...more] = value.split('/').map(whole);
  if (limit === undefined || perMs === undefined || more.length > 0) {
    throw new InvalidArgumentError('Must look like 100/60000 or 100/60000/10, or be none or code.');
  }
  return { limit, perMs, ...(burst !== undefined && { burst }) };
}

/** Keys of definitions, or patterns of them, separated by commas. */
export function patterns(value: string): string[] {
  const found = value.split(',').map((pattern) => pattern.trim());
  const wrong = found.find((pattern) => !PATTERN_SHAPE.test(pattern));
  if (wrong === undefined) return found;
  throw new InvalidArgumentError(
    `${JSON.stringify(wrong)} is neither the key of a definition nor a pattern like report.*`,
  );
}

export function eachOf(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

export function states(value: string, before: JobState[] | undefined): JobState[] {
  return named('status', JOB_STATES, value, before);
}

export function scopes(value: string, before: Scope[] | undefined): Scope[] {
  return named('scope', SCOPE_NAMES, value, before);
}

export function webhookEvents(value: string, before: WebhookEvent[] | undefined): WebhookEvent[] {
  return named('event', WEBHOOK_EVENTS, value, before);
}

export function webhookFormat(value: string): WebhookFormat {
  const found = WEBHOOK_FORMATS.find((name) => name === value);
  if (!found) throw new InvalidArgumentError(unknownName('format', value, WEBHOOK_FORMATS));
  return found;
}

export function alertRule(value: string): AlertRuleName {
  const found = ALERT_RULE_NAMES.find((name) => name === value);
  if (!found) throw new InvalidArgumentError(unknownName('rule', value, ALERT_RULE_NAMES));
  return found;
}

export function alertRules(value: string, before: AlertRuleName[] | undefined): AlertRuleName[] {
  return named('rule', ALERT_RULE_NAMES, value, before);
}

export function alertSeverity(value: string): AlertSeverity {
  const found = ALERT_SEVERITIES.find((name) => name === value);
  if (!found) throw new InvalidArgumentError(unknownName('severity', value, ALERT_SEVERITIES));
  return found;
}

export function chat(value: string): Chat {
  const found = CHATS.find((name) => name === value);
  if (!found) throw new InvalidArgumentError(unknownName('chat', value, CHATS));
  return found;
}

export function quietHours(value: string): { from: string; to: string } {
  const found = parseHours(value);
  if (!found) throw new InvalidArgumentError('Must look like 22:00-07:00.');
  return found;
}

export function weekdays(value: string, before: Weekday[] | undefined): Weekday[] {
  return named('day', WEEKDAYS, value, before);
}

function named<Name extends string>(
  what: string,
  known: readonly Name[],
  value: string,
  before: Name[] | undefined,
): Name[] {
  const typed = value.split(',').map((name) => name.trim());
  for (const name of typed) {
    if (!(known as readonly string[]).includes(name)) {
      throw new InvalidArgumentError(unknownName(what, name, known));
    }
  }
  return [...(before ?? []), ...(typed as Name[])];
}

/** Values that are repeated or separated by commas. */
export function listOf(value: string, before: readonly string[] = []): string[] {
  return [...before, ...value.split(',')];
}
