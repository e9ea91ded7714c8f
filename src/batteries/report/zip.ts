import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { NonRetryable } from '../../core/definition/define.ts';

export interface ZipFile {
  name: string;
  content: Iterable<string> | AsyncIterable<string>;
}

/** Sizes follow each file, and names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATE = 8;
const VERSION = 20;
/** 1980-01-01: the same content makes the same archive. */
const DATE = 0x0021;
const SIZE_MAX = 0xffffffff;
/** Sheets are repetitive: higher levels take much longer and save little. */
const LEVEL = 3;

/** A zip archive that is written while its content is made: neither is ever in memory as a whole. */
export async function* zipOf(files: Iterable<ZipFile>): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let at = 0;
  const counted = (bytes: Uint8Array) => {
    at += bytes.length;
    return bytes;
  };
  for (const { name, content } of files) {
    const begin = at;
    const title = Buffer.from(name);
    yield counted(Buffer.concat([header(0x04034b50, [0, 0, 0], title.length), title]));
    const sum = { crc: 0, bytes: 0 };
    const deflate = createDeflateRaw({ level: LEVEL });
    const source = Readable.from(summed(content, sum), { highWaterMark: 1 });
    const feeding = pipeline(source, deflate);
    // A failure of the source is thrown by the loop below.
    feeding.catch(() => undefined);
    const packedBegin = at;
    for await (const chunk of deflate as AsyncIterable<Buffer>) yield counted(chunk);
    await feeding;
    const sizes = [sum.crc, at - packedBegin, sum.bytes] as const;
    if (at > SIZE_MAX || sum.bytes > SIZE_MAX) {
      throw new NonRetryable('the file is larger than 4 GB: use CSV, or make the report smaller');
    }
    yield counted(numbers([0x08074b50, 4], [sizes[0], 4], [sizes[1], 4], [sizes[2], 4]));
    directory.push(entry(title, sizes, begin));
  }
  const index = Buffer.concat(directory);
  const count = directory.length;
  yield index;
  yield numbers(
    [0x06054b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [index.length, 4],
    [at, 4],
    [0, 2],
  );
}

async function* summed(
  content: ZipFile['content'],
  sum: { crc: number; bytes: number },
): AsyncGenerator<Buffer> {
  for await (const text of content) {
    const bytes = Buffer.from(text);
    sum.crc = crc32(bytes, sum.crc);
    sum.bytes += bytes.length;
    yield bytes;
  }
}

type Sizes = readonly [crc: number, packed: number, bytes: number];

function header(signature: number, [crc, packed, bytes]: Sizes, nameLength: number): Buffer {
  const made = signature === 0x02014b50 ? ([[VERSION, 2]] as [number, number][]) : [];
  return numbers(
    [signature, 4],
    ...made,
    [VERSION, 2],
    [FLAGS, 2],
    [DEFLATE, 2],
    [0, 2],
    [DATE, 2],
    [crc, 4],
    [packed, 4],
    [bytes, 4],
    [nameLength, 2],
    [0, 2],
  );
}

function entry(name: Buffer, sizes: Sizes, begin: number): Buffer {
  const rest = numbers([0, 2], [0, 2], [0, 2], [0, 4], [begin, 4]);
  return Buffer.concat([header(0x02014b50, sizes, name.length), rest, name]);
}

/** Little-endian numbers, each with its number of bytes. */
function numbers(...values: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const bytes = Buffer.alloc(values.reduce((sum, [, length]) => sum + length, 0));
  let at = 0;
  for (const [value, length] of values) at = bytes.writeUIntLE(value, at, length);
  return bytes;
}
