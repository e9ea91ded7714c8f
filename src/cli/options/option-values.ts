import { InvalidArgumentError } from 'commander';
import { JOB_STATES, type JobState } from '../../core/job/job.ts';
import type { RateLimitInput } from '../../core/queue/limits.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { type Scope, SCOPE_NAMES } from '../../core/access/scope.ts';
import type { UniqueWhile } from '../../core/job/unique.ts';
import { ALERT_RULE_NAMES, type AlertRuleName } from '../../core/views/alert.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../core/webhook/webhook.ts';

/** Parsers of option values; commander reports what they throw as a usage error. */

export function whole(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError('Must be a whole number.');
  return Number(value);
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

export function rate(value: string): number {
  const perSecond = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(perSecond)) throw new InvalidArgumentError('Must be a number.');
  return perSecond;
}

/** `none` removes the limit, `code` restores the value of the code. */
export function limitCount(value: string): number | 'code' {
  if (value === 'code') return value;
  return value === 'none' ? 0 : whole(value);
}

export function limitRate(value: string): RateLimitInput | 'code' {
  if (value === 'code') return value;
  if (value === 'none') return 0;
  const [limit, perMs, burst, ...more] = value.split('/').map(whole);
  if (limit === undefined || perMs === undefined || more.length > 0) {
    throw new InvalidArgumentError('Must look like 100/60000 or 100/60000/10, or be none or code.');
  }
  return { limit, perMs, ...(burst !== undefined && { burst }) };
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

export function alertRule(value: string): AlertRuleName {
  const found = ALERT_RULE_NAMES.find((name) => name === value);
  if (!found) throw new InvalidArgumentError(unknownName('rule', value, ALERT_RULE_NAMES));
  return found;
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
