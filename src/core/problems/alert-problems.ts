import type { AlertView } from '../alert/alert.ts';
import { alertSentence } from '../alert/alert-sentence.ts';
import { ownersOf } from '../definition/owners.ts';
import { rootCause } from '../failure/dead-letter.ts';
import { causeWords } from '../failure/failure-words.ts';
import type { JobView } from '../job/job.ts';
import type { DefinitionStats } from '../views/stats.ts';
import {
  alertTarget,
  heldJobs,
  isOfRetries,
  OF_DEAD_LETTERS,
  type Problem,
  type Seen,
} from './problem.ts';

/** Firing alerts that no other problem of the list covers. */
export function alertProblems(seen: Seen, own: readonly Problem[]): Problem[] {
  const { alerts, definitions, failures, stats, retried = [] } = seen;
  const owners = ownersOf(definitions);
  const counted = new Map(stats.definitions.map((one) => [one.key, one]));
  const failed = new Set(failures.flatMap(({ definitionKeys }) => definitionKeys));
  const isShown = (alert: AlertView): boolean => {
    const { rule, definitionKey } = alert;
    const about = alert.webhookId ?? alert.scheduleId ?? definitionKey;
    if (rule === 'stuck' && hasEnded(alert, seen)) return true;
    if (rule === 'budget-warning' && isExceeded(alert, alerts)) return true;
    // The lines about failures show the same with a cause.
    if (OF_DEAD_LETTERS.has(rule)) return definitionKey !== null && failed.has(definitionKey);
    return own.some(({ alerts: same = [] }) =>
      same.some((one) => one.about === about && (one.rule === rule || saysMore(one, rule))),
    );
  };
  return alerts
    .filter((alert) => alert.status === 'firing' && !isShown(alert))
    .filter((alert) => !isPast(alert, counted.get(alert.definitionKey ?? '')))
    .map((alert) => ({
      kind: 'alert',
      about: null,
      text: `${alertSentence(alert)}${causeOf(alert, retried)}.`,
      owner: alert.definitionKey === null ? null : (owners.get(alert.definitionKey) ?? null),
      target: alertTarget(alert) ?? { at: 'alerts' },
    }));
}

/** Why attempts are retried, by a job that waits for its retry now. */
function causeOf(alert: AlertView, retried: readonly JobView[]): string {
  if (!isOfRetries(alert)) return '';
  const job = retried.find(({ definitionKey }) => definitionKey === alert.definitionKey);
  if (!job?.error) return '';
  const words = causeWords({ ...job.error, cause: rootCause(job.error) });
  return `: ${words.replace(/\.$/, '')}`;
}

/** The next check of the rule resolves it. */
function hasEnded({ jobId }: AlertView, seen: Seen): boolean {
  if (jobId === null) return false;
  return [...seen.running, ...heldJobs(seen)].every((job) => job.jobId !== jobId);
}

/** Both rules of a budget have the same sentence, except for their thresholds. */
function isExceeded({ message }: AlertView, alerts: readonly AlertView[]): boolean {
  return alerts.some(
    (one) =>
      one.rule === 'budget-exceeded' &&
      one.status === 'firing' &&
      withoutThreshold(one.message) === withoutThreshold(message),
  );
}

function withoutThreshold(message: string): string {
  return message.replace(/ \(threshold [^)]*\)$/, '');
}

/** Jobs that no worker can run are old as well. */
function saysMore({ rule }: { rule: AlertView['rule'] }, than: AlertView['rule']): boolean {
  return rule === 'unserved' && than === 'oldest-age';
}

/** The counters are newer than the alert, which is resolved by the next check of its rule. */
function isPast({ rule, threshold }: AlertView, stats: DefinitionStats | undefined): boolean {
  if (stats === undefined) return false;
  if (rule === 'unserved') return stats.unserved === null;
  return rule === 'oldest-age' && (stats.oldestAgeMs ?? 0) < threshold * 1_000;
}
