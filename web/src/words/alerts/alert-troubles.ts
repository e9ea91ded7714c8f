import type { AlertView } from '../../../../src/core/views/alert.ts';
import { sentenceCase } from '../jobs/job-words.ts';
import { ownersOf } from './owners.ts';
import { alertTarget } from '../target.ts';
import type { Seen, Trouble } from '../seen.ts';

/** Firing alerts that no other problem of the list covers. */
export function alertTroubles(
  { alerts, definitions, failures }: Seen,
  own: readonly Trouble[],
): Trouble[] {
  const owners = ownersOf(definitions);
  const failed = new Set(failures.flatMap(({ definitionKeys }) => definitionKeys));
  const isShown = ({ rule, definitionKey, scheduleId }: AlertView): boolean => {
    const about = scheduleId ?? definitionKey;
    if (rule === 'dead-letters') return definitionKey !== null && failed.has(definitionKey);
    return own.some(
      ({ alert }) => alert?.about === about && (alert.rule === rule || saysMore(alert, rule)),
    );
  };
  return alerts
    .filter((alert) => alert.status === 'firing' && !isShown(alert))
    .map((alert) => ({
      text: `${sentenceCase(alert.message)}.`,
      owner: alert.definitionKey === null ? null : (owners.get(alert.definitionKey) ?? null),
      target: alertTarget(alert) ?? { at: 'alerts' },
    }));
}

/** Jobs that no worker can run are old as well. */
function saysMore({ rule }: NonNullable<Trouble['alert']>, than: AlertView['rule']): boolean {
  return rule === 'no-worker' && than === 'oldest-age';
}
