import { ALERT_RULES, type AlertRuleView } from '../../../../src/core/alert/alert.ts';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { duration } from '../../../../src/core/values/duration.ts';

type Unit = AlertRuleView['unit'];

const ONE: Record<Exclude<Unit, 'seconds' | 'milliseconds' | 'percent'>, string> = {
  jobs: 'job',
  retries: 'retry',
  slots: 'slot',
  canaries: 'canary',
};

export function thresholdWords({
  threshold,
  unit,
}: Pick<AlertRuleView, 'threshold' | 'unit'>): string {
  if (unit === 'seconds') return duration(threshold * 1_000);
  if (unit === 'milliseconds') return duration(threshold);
  if (unit === 'percent') return `${threshold} %`;
  return `${threshold.toLocaleString('en')} ${threshold === 1 ? ONE[unit] : unit}`;
}

export function windowWords({ windowSeconds }: Pick<AlertRuleView, 'windowSeconds'>): string {
  return windowSeconds === null ? 'at this moment' : duration(windowSeconds * 1_000);
}

/** What a rule applies to. */
export function scopeWords({
  rule,
  definitionKey,
}: Pick<AlertRuleView, 'rule' | 'definitionKey'>): string {
  if (definitionKey !== null) return `Applies to ${definitionKey} only.`;
  if (rule === 'webhook-failing') return 'Applies to all webhooks.';
  if (!ALERT_RULES[rule].perDefinition) return 'Applies to the whole server.';
  return 'Applies to all definitions that have no rule of their own.';
}

/** Why no alert reaches a person, or where alerts go without a route. */
export function noRouteWords(webhooks: readonly Pick<WebhookView, 'events' | 'status'>[]): string {
  const told = webhooks.some(
    ({ events, status }) => status === 'active' && events.includes('alert.fired'),
  );
  if (told) return 'No routes: alerts are sent to subscribed webhooks only.';
  return 'No alert is sent: there is no route, and no webhook subscribes to alert.fired. Add a route, so that alerts reach you by e-mail or chat.';
}

export { silenceWords } from '../../../../src/core/alert/silence-words.ts';

/** How long an alert can be silenced for. */
export const SILENCES = [
  ['1 hour', 3_600],
  ['8 hours', 8 * 3_600],
  ['until it is resolved', null],
] as const satisfies readonly (readonly [words: string, seconds: number | null])[];
