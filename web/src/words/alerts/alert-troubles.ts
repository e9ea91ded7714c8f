import type { AlertView } from '../../../../src/core/views/alert.ts';
import { sentenceCase } from '../jobs/job-words.ts';
import { ownersOf } from './owners.ts';
import { placeOfAlert } from '../place.ts';
import type { Seen, Trouble } from '../seen.ts';

/** Alerts that fire and whose subject is not told already. */
export function alertTroubles(
  { alerts, definitions, failures }: Seen,
  own: readonly Trouble[],
): Trouble[] {
  const owners = ownersOf(definitions);
  const failed = new Set(failures.flatMap(({ definitionKeys }) => definitionKeys));
  const isSubscribed = ({ rule, definitionKey, scheduleId }: AlertView): boolean => {
    const about = scheduleId ?? definitionKey;
    if (rule === 'dead-letters') return definitionKey !== null && failed.has(definitionKey);
    return own.some(
      ({ told }) =>
        told !== undefined && told.about === about && (told.rule === rule || saysMore(told, rule)),
    );
  };
  return alerts
    .filter((alert) => alert.status === 'firing' && !isSubscribed(alert))
    .map((alert) => ({
      text: `${sentenceCase(alert.message)}.`,
      owner: alert.definitionKey === null ? null : (owners.get(alert.definitionKey) ?? null),
      place: placeOfAlert(alert) ?? { at: 'alerts' },
    }));
}

/** A job that no worker can run is old as well. */
function saysMore({ rule }: NonNullable<Trouble['told']>, than: AlertView['rule']): boolean {
  return rule === 'no-worker' && than === 'oldest-age';
}
