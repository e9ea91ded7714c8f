import { SHARDS_MAX } from './job-id.ts';

/**
 * The last group of an id: 12 characters that differ between jobs, where the first ones are the
 * time. Every command accepts it instead of the whole id.
 */
export function shortId(id: string): string {
  return id.slice(id.lastIndexOf('-') + 1);
}

/** Shorter beginnings and ends of ids belong to too many jobs. */
export const ID_PART_MIN = 4;
const DIGITS = 32;

/** The hex digits of the beginning or the end of an id; null for any other text. */
export function idPart(text: string): string | null {
  const digits = text.toLowerCase().replaceAll('-', '');
  const fits = digits.length >= ID_PART_MIN && digits.length <= DIGITS;
  return fits && /^[0-9a-f]+$/.test(digits) ? digits : null;
}

export function hasIdPart(id: string, part: string): boolean {
  const digits = id.replaceAll('-', '');
  return digits.startsWith(part) || digits.endsWith(part);
}

/** The first and the last id that begin with these digits. */
export function idsFrom(part: string): [first: string, last: string] {
  return [uuid(part.padEnd(DIGITS, '0')), uuid(part.padEnd(DIGITS, 'f'))];
}

/** The end of an id says where its job is stored. */
export function shardOfIdEnd(part: string): number {
  return parseInt(part.slice(-3), 16) & (SHARDS_MAX - 1);
}

function uuid(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
