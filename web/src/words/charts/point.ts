import { inZone } from '../zone.ts';
import { dayAndTime } from './range.ts';

const DAY_MS = 86_400_000;
const TIME = inZone({ hour: '2-digit', minute: '2-digit' });

export interface Steps {
  times: readonly number[];
  stepMs: number;
}

/** When a point of a chart begins and ends. */
export function pointWords({ times, stepMs }: Steps, at: number): string {
  const beginMs = (times[at] ?? 0) * 1_000;
  const end = new Date(beginMs + stepMs);
  const begin = dayAndTime(beginMs);
  return stepMs >= DAY_MS ? begin : `${begin} – ${TIME(end)}`;
}
