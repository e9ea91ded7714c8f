import { BROWSER_ZONE, showZone } from '../words/zone.ts';
import { preference } from './preference.ts';

export const ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const timeZone = preference<string>('time-zone', [BROWSER_ZONE, 'UTC', ...ZONES]);

showZone(timeZone.get());
timeZone.subscribe(() => showZone(timeZone.get()));
