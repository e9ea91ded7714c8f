import { inZone } from '../zone.ts';

const TIME = inZone({ hour: '2-digit', minute: '2-digit' });
const DATE = inZone({ day: 'numeric', month: 'short' });
const DAY_SECONDS = 86_400;

/** Labels of a time axis: times, and the date where a day begins or if every label is a day. */
export function axisTimes(seconds: readonly number[]): string[] {
  const stepSeconds = (seconds[1] ?? 0) - (seconds[0] ?? 0);
  let day = '';
  return seconds.map((at, index) => {
    const moment = new Date(at * 1_000);
    const date = DATE(moment);
    const isNewDay = date !== day && index > 0;
    day = date;
    return stepSeconds >= DAY_SECONDS || isNewDay ? date : TIME(moment);
  });
}
