import { actorWords } from '../../core/identity/actor.ts';
import type { Pause, PublishedDefinition } from '../../client/index.ts';
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

export function pauseSentence(pause: Pause, now: Date): string {
  const since = age(now.getTime() - Date.parse(pause.since));
  const by = pause.by === null ? '' : ` by ${actorWords(pause.by)}`;
  const why = pause.reason === null ? '' : `: ${pause.reason}`;
  return printable(`${pausedName(pause)} was paused ${since} ago${by}${why}`);
}
