/**
 * Job ids are UUIDs of version 7: 48 bits of milliseconds lead, so ids sort by creation, partitions
 * are ranges of ids, and a keyset page over ids is a page over time. The last 10 bits are the
 * shard, so the id itself says where its job is stored.
 *
 * tttttttt-tttt-7sss-vrrr-rrrrrrrrrrrr (t time, s sequence within the millisecond, v variant, r
 * random; the low 10 bits of r are the shard)
 */

export const SHARDS_MAX = 1_024;
const SEQUENCE_MAX = 0xfff;
const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export interface JobIdParts {
  timeMs: number;
  /** 0 to 4095; orders the ids that one process makes within one millisecond. */
  sequence: number;
  /** Two random numbers in [0, 2^26): 52 bits together. */
  random: readonly [number, number];
  shard: number;
}

export function makeJobId({ timeMs, sequence, random, shard }: JobIdParts): string {
  const [first, second] = random;
  // 24 bits of the first number and 26 of the second, in parts of at most 24 bits: the engine writes
  // such numbers fast.
  const variant = (0x8000 | ((first >>> 12) & 0xfff)).toString(16);
  const tailHigh = hex24(((first & 0xfff) << 12) | ((second >>> 14) & 0xfff));
  const tailLow = hex24(((second & 0x3fff) << 10) | shard);
  const inMs = (0x7000 | (sequence & SEQUENCE_MAX)).toString(16);
  return `${timePart(timeMs)}-${inMs}-${variant}-${tailHigh}${tailLow}`;
}

function timePart(timeMs: number): string {
  const high = hex24(Math.floor(timeMs / 0x1_00_00_00));
  const low = hex24(timeMs % 0x1_00_00_00);
  return `${high}${low.slice(0, 2)}-${low.slice(2)}`;
}

function hex24(value: number): string {
  return (0x1_00_00_00 | value).toString(16).slice(1);
}

/** The smallest id of a moment: turns a time into a boundary between ids. */
export function jobIdFloor(timeMs: number): string {
  const time = hex(Math.max(0, Math.floor(timeMs)), 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

export function isJobId(text: string): boolean {
  return SHAPE.test(text);
}

export function shardOfJobId(id: string): number {
  return parseInt(id.slice(-3), 16) & (SHARDS_MAX - 1);
}

export function timeOfJobId(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
