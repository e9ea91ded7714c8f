import { crc32, deflateSync, inflateSync } from 'node:zlib';

/**
 * PNG in plain JavaScript, so that the example needs no native package: 8 bits a channel, grey, RGB or
 * RGBA, not interlaced. A real service would use a library such as sharp; the job would look the same.
 */

export interface Picture {
  width: number;
  height: number;
  /** RGBA, row by row. */
  pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 4: 2, 6: 4 };

export class NotAPicture extends Error {
  override name = 'NotAPicture';
}

export function decodePng(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new NotAPicture('this is no PNG file');
  const data: Buffer[] = [];
  let header: Buffer | undefined;
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = body;
    if (type === 'IDAT') data.push(body);
    at += 12 + length;
  }
  if (!header) throw new NotAPicture('the PNG has no header');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = CHANNELS[header[9] ?? -1];
  if (header[8] !== 8 || header[12] !== 0 || channels === undefined) {
    throw new NotAPicture('only PNGs with 8 bits a channel, without palette and interlacing');
  }
  return {
    width,
    height,
    pixels: toRgba(unfilter(inflateSync(Buffer.concat(data)), width, height, channels), channels),
  };
}

/** Every row was stored as the difference to its neighbours, in one of five ways. */
function unfilter(raw: Buffer, width: number, height: number, channels: number): Uint8Array {
  const stride = width * channels;
  const rows = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x >= channels ? (rows[at - channels] ?? 0) : 0;
      const above = y > 0 ? (rows[at - stride] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (rows[at - stride - channels] ?? 0) : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0];
      rows[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + (guess ?? 0);
    }
  }
  return rows;
}

function paeth(left: number, above: number, corner: number): number {
  const near = [left, above, corner].map((value) => Math.abs(left + above - corner - value));
  const [toLeft = 0, toAbove = 0, toCorner = 0] = near;
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function toRgba(rows: Uint8Array, channels: number): Uint8Array {
  const count = rows.length / channels;
  const pixels = new Uint8Array(count * 4);
  for (let n = 0; n < count; n += 1) {
    const from = n * channels;
    const grey = channels <= 2;
    for (let c = 0; c < 3; c += 1) pixels[n * 4 + c] = rows[from + (grey ? 0 : c)] ?? 0;
    pixels[n * 4 + 3] = channels % 2 === 0 ? (rows[from + channels - 1] ?? 0) : 255;
  }
  return pixels;
}

/** Each pixel of the small picture is the mean of those it stands for. */
export function shrink(picture: Picture, widthMax: number): Picture {
  const scale = Math.min(1, widthMax / picture.width);
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  const pixels = new Uint8Array(width * height * 4);
  const edge = (n: number, of: number, all: number) => Math.floor((n * all) / of);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sums = [0, 0, 0, 0];
      let count = 0;
      for (
        let v = edge(y, height, picture.height);
        v < edge(y + 1, height, picture.height);
        v += 1
      ) {
        for (let u = edge(x, width, picture.width); u < edge(x + 1, width, picture.width); u += 1) {
          for (let c = 0; c < 4; c += 1) {
            sums[c] = (sums[c] ?? 0) + (picture.pixels[(v * picture.width + u) * 4 + c] ?? 0);
          }
          count += 1;
        }
      }
      for (const [c, sum] of sums.entries()) pixels[(y * width + x) * 4 + c] = sum / count;
    }
  }
  return { width, height, pixels };
}

export function encodePng({ width, height, pixels }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width * 4 + 1));
  for (let y = 0; y < height; y += 1) {
    rows.set(pixels.subarray(y * width * 4, (y + 1) * width * 4), y * (width * 4 + 1) + 1);
  }
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')];
  return Buffer.concat([SIGNATURE, ...parts]);
}

function chunk(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
