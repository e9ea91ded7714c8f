import { actorWords } from '../../core/identity/actor.ts';
import type { Pause, Paused, PublishedDefinition } from '../../client/index.ts';
import type { Limits, RateLimit } from '../../core/queue/limits.ts';
import { columns } from './columns.ts';
import { age, duration } from '../../core/values/duration.ts';
import { printable } from '../../core/values/printable.ts';

const LIMIT_HEADER = ['LIMIT', 'PER KEY', 'RATE', 'RATE PER KEY', 'SPREAD'];
const HEADER = ['DEFINITION', 'IN USE', ...LIMIT_HEADER, 'PAUSED'];

export function limitsTable(
  definitions: readonly PublishedDefinition[],
  widthMax: number,
): string[] {
  const rows = definitions.map(({ key, limits, paused }) => [
    key,
    limits.effective.concurrencyLimit === null ? '-' : String(limits.inUse ?? '-'),
    ...limitCells(limits.effective),
    paused ? 'yes' : '-',
  ]);
  return columns([HEADER, ...rows], widthMax);
}

export function limitCells(limits: Limits): string[] {
  const { concurrencyLimit, concurrencyKeyLimit, rateLimit, keyRateLimit, spread } = limits;
  return [
    String(concurrencyLimit ?? '-'),
    String(concurrencyKeyLimit ?? '-'),
    rateText(rateLimit),
    rateText(keyRateLimit),
    String(spread ?? '-'),
  ];
}

function rateText(rate: RateLimit | null): string {
  return rate === null ? '-' : `${rate.limit} in ${duration(rate.perMs)}`;
}

export function pausedName({ scope, name }: Pause): string {
  return name === null ? 'everything' : `${scope} ${name}`;
}

export function pauseSentence(pause: Pause, now: Date, paused = 'was paused'): string {
  return `${printable(pausedName(pause))} ${paused} ${pausedSince(pause, now)}`;
}

/** Such as "4m ago by alice: schema fix running". */
export function pausedSince({ since, by, reason }: Pause, now: Date): string {
  const ago = `${age(now.getTime() - Date.parse(since))} ago`;
  const who = by === null ? '' : ` by ${actorWords(by)}`;
  const why = reason === null ? '' : `: ${reason}`;
  return printable(`${ago}${who}${why}`);
}

/** What a call to pause did. */
export function pausedSentence({ before, ...made }: Paused, now: Date): string {
  if (!before) return `paused ${pausedName(made)}`;
  const was = pauseSentence(before, now, 'was already paused');
  if (made.reason === before.reason) return was;
  return printable(`${was}; the reason is now: ${made.reason ?? ''}`);
}

/** The pauses that still hold what was resumed, or a part of it. */
export function stillPaused(over: Pause, left: readonly Pause[], now: Date): string[] {
  const held = left.filter(({ scope }) => over.scope === 'all' || scope === 'all');
  return held.map((pause) => `Still paused: ${pauseSentence(pause, now)}`);
}
