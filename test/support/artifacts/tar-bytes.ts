import { gzipSync } from 'node:zlib';

/** A tar written by hand, because libraries refuse to make what must be refused. */
export interface TarEntry {
  name: string | Buffer;
  content?: string | Buffer;
  /** The letter of its type: `0` a file, `1` a hard link, `2` a link, `3` a device, `5` a folder. */
  type?: string;
  mode?: number;
  link?: string;
  /** The size in the header, if it is not that of the content. */
  size?: number;
}

const BLOCK = 512;

export function tarBytes(entries: readonly TarEntry[], end = Buffer.alloc(2 * BLOCK)): Buffer {
  return Buffer.concat([...entries.map(entryBytes), end]);
}

export function tarGz(entries: readonly TarEntry[]): Buffer {
  return gzipSync(tarBytes(entries));
}

/** A header of pax before an entry; it can say what the old fields cannot. */
export function pax(fields: Record<string, string>): TarEntry {
  const lines = Object.entries(fields).map(([name, value]) => {
    const rest = ` ${name}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
    return `${length}${rest}`;
  });
  return { name: 'PaxHeader', type: 'x', content: lines.join('') };
}

function entryBytes(entry: TarEntry): Buffer {
  const { name, content = '', type = '0', mode = 0o644, link = '', size } = entry;
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(header, 0, 0, 100);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size ?? body.length, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(link, 157, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
  return Buffer.concat([header, body, padding]);
}
