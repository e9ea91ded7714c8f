import { unknownName } from '../values/nearest.ts';
import { parseDuration } from '../values/parse-duration.ts';

/** Numbers as people write them: `1e9`, `10M`, `2kB`, `7d`, `5%`. Each refusal says what to write. */
export class NotAQuantity extends Error {
  override name = 'NotAQuantity';
}

const COUNT_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  million: 1e6,
  b: 1e9,
  billion: 1e9,
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  bytes: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1_024,
  mib: 1_024 ** 2,
  gib: 1_024 ** 3,
  tib: 1_024 ** 4,
};

const DAY_MS = 86_400_000;

export function parseCount(text: string): number {
  return parsed(text, COUNT_UNITS, 'such as 1000000, 1e6 or 10M');
}

/** In bytes; kB is 1,000 and KiB 1,024. */
export function parseSize(text: string): number {
  return parsed(text, SIZE_UNITS, 'such as 500, 2kB or 1.5MB');
}

/** A part of one: `0.05` or `5%`. */
export function parseShare(text: string): number {
  const percent = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(text)?.[1];
  const share = percent === undefined ? numberOf(text) : Number(percent) / 100;
  if (share !== null && share >= 0 && share <= 1) return share;
  throw new NotAQuantity('must be a share from 0 to 1, such as 0.05 or 5%');
}

/** In days: `7d`, `12h`, `2w`, or a number of days. */
export function parseDays(text: string): number {
  const ms = parseDuration(text);
  const days = ms === null ? numberOf(text) : ms / DAY_MS;
  if (days !== null && days > 0) return days;
  throw new NotAQuantity('must be a duration such as 7d, 2w or 12h');
}

/** In seconds: `2`, `0.5`, `300ms` or `1h`. */
export function parseSeconds(text: string): number {
  const ms = parseDuration(text);
  const seconds = ms === null ? numberOf(text) : ms / 1_000;
  if (seconds !== null) return seconds;
  throw new NotAQuantity('must be a number of seconds such as 2 or 0.5, or a duration such as 5m');
}

function parsed(text: string, units: Readonly<Record<string, number>>, how: string): number {
  const [, amount = '', unit = ''] = /^\s*([\d.,_]+(?:e\+?\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const number = numberOf(amount);
  if (number === null) throw new NotAQuantity(`must be a number ${how}`);
  const factor = units[unit.toLowerCase()];
  if (factor !== undefined) return number * factor;
  const known = Object.keys(units).filter((name) => name !== '');
  const refusal = unknownName('unit', unit, known);
  throw new NotAQuantity(`${refusal}${refusal.endsWith('?') ? '' : '.'} Write a number ${how}`);
}

/** Commas and underscores may separate groups of three digits. Null for what is no number. */
function numberOf(text: string): number | null {
  const plain = text.trim().replaceAll(/(?<=\d)[,_](?=\d{3}(?:\D|$))/g, '');
  if (!/^\d+(\.\d+)?(e\+?\d{1,2})?$/i.test(plain)) return null;
  return Number(plain);
}
