import { duration } from '../../../../src/core/values/duration.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import { plainText } from '../jobs/log-tail.ts';

export function pauseWords({ scope, name, by, reason, since }: PauseView, now: Date): string {
  const what = name === null ? 'Everything' : scope === 'tenant' ? `Tenant ${name}` : name;
  const forMs = Math.floor((now.getTime() - Date.parse(since)) / 1_000) * 1_000;
  const who = by === null ? '' : by === 'open' ? ' (no sign-in configured)' : ` by ${by}`;
  const why = reason === null ? '.' : `: ${plainText(reason)}`;
  return `${what} was paused ${duration(forMs)} ago${who}${why}`;
}
