import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { LogLine } from '../../core/views/history.ts';

/**
 * The lines of a chunk as bytes: a JSON array, compressed if it is large. The first byte says
 * which: a JSON array begins with `[`, a zlib stream does not.
 */
type Row = [
  atMs: number,
  level: LogLine['level'],
  stream: LogLine['stream'],
  message: LogLine['message'],
];

/** Below this size compression costs more than it saves. */
const WORTH_BYTES = 512;
const BRACKET = 0x5b;

const deflated = promisify(deflate);
const inflated = promisify(inflate);

export async function packLines(lines: readonly LogLine[]): Promise<Buffer> {
  const rows = lines.map(({ atMs, level, stream, message }): Row => [atMs, level, stream, message]);
  const plain = Buffer.from(JSON.stringify(rows));
  return plain.length < WORTH_BYTES ? plain : await deflated(plain);
}

export async function unpackLines(data: Buffer): Promise<LogLine[]> {
  const plain = data[0] === BRACKET ? data : await inflated(data);
  const rows = JSON.parse(plain.toString()) as Row[];
  return rows.map(([atMs, level, stream, message]) => ({ atMs, level, stream, message }));
}
