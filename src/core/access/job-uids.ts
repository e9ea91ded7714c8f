import { RUNNER_UIDS, type UidRange } from './machine-users.ts';

/** Which user ids the processes of jobs run as: the setting, and the choice of a range. */

/** `auto`: separate users where possible; `none`: the user of the worker; a range: required. */
export type UidSetting = 'auto' | 'none' | UidRange;

/** 4294967295 means "no change" to the kernel. */
const UID_MAX = 4_294_967_294;
/** Lower ids belong to root and system users. */
const UID_MIN = 1_000;

export function parseUidSetting(text: string): UidSetting | null {
  const word = text.trim();
  if (word === 'auto' || word === 'none') return word;
  const [, from, to] = /^(\d{1,10})-(\d{1,10})$/.exec(word) ?? [];
  const range = { first: Number(from), last: Number(to) };
  const good = range.first >= UID_MIN && range.last <= UID_MAX && range.first <= range.last;
  return good ? range : null;
}

/**
 * Tried in this order. Debian and systemd leave both unallocated; the second is for containers that
 * have ids up to 65535 only.
 */
export const AUTO_RANGES: readonly UidRange[] = [RUNNER_UIDS, { first: 50_000, last: 59_999 }];

/** All user ids that the setting allows for jobs. */
export function rangesOf(setting: UidSetting | null): readonly UidRange[] {
  if (setting === null || setting === 'none') return [];
  return setting === 'auto' ? AUTO_RANGES : [setting];
}

/** Ids are locked and assigned in blocks of this size, so two workers never share an id. */
export const UID_BLOCK = 64;

/**
 * The mapped ids, parsed from `/proc/self/uid_map` or `gid_map`: lines of first, outside, count.
 */
export function parseIdMap(text: string): UidRange[] {
  return text.split('\n').flatMap((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    if (first === undefined || count === undefined || !(count > 0)) return [];
    return [{ first, last: first + count - 1 }];
  });
}

/** The names and numbers of `/etc/passwd` or `/etc/group`. */
export function parseAccounts(text: string): Map<number, string> {
  const accounts = new Map<number, string>();
  for (const line of text.split('\n')) {
    const [name = '', , id] = line.split(':');
    if (id !== undefined && /^\d+$/.test(id)) accounts.set(Number(id), name);
  }
  return accounts;
}

/**
 * The blocks of a range. Each begins at a multiple of the size, so overlapping ranges have the same
 * blocks. Ids that belong to an account or are not mapped here are left out.
 */
export function blocksOf(
  range: UidRange,
  mapped: readonly UidRange[],
  isTaken: (id: number) => boolean,
): { start: number; ids: number[] }[] {
  const blocks: { start: number; ids: number[] }[] = [];
  const here = (id: number) => mapped.some(({ first, last }) => id >= first && id <= last);
  for (
    let start = range.first - (range.first % UID_BLOCK);
    start <= range.last;
    start += UID_BLOCK
  ) {
    const ids = Array.from({ length: UID_BLOCK }, (_, offset) => start + offset);
    const usable = ids.filter(
      (id) => id >= range.first && id <= range.last && here(id) && !isTaken(id),
    );
    if (usable.length > 0) blocks.push({ start, ids: usable });
  }
  return blocks;
}

/**
 * The same blocks, in an order that begins elsewhere for each seed. Workers in different network
 * namespaces cannot see each other's locks; with this they rarely ask for the same block.
 */
export function rotated<T>(blocks: readonly T[], seed: number): T[] {
  const at = blocks.length === 0 ? 0 : seed % blocks.length;
  return [...blocks.slice(at), ...blocks.slice(0, at)];
}
