import { actorWords } from '../identity/actor.ts';
import { wholeSeconds } from '../values/duration.ts';
import type { AlertSilence } from './alert.ts';

/** Until when a silence holds, and whose it is. */
export function silenceWords({ until, by }: AlertSilence, now: Date): string {
  const leftMs = until === null ? 0 : Math.max(0, Date.parse(until) - now.getTime());
  const end = until === null ? 'until it is resolved' : `for ${wholeSeconds(leftMs)} more`;
  return `silenced ${end} by ${actorWords(by)}`;
}
