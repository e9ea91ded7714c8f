import { crc32, deflateRawSync } from 'node:zlib';

/** A zip written by hand. */
export interface ZipEntry {
  name: string | Buffer;
  content?: string | Buffer;
  /** The mode of Unix, with the type of the file. */
  mode?: number;
  flags?: number;
  method?: number;
  /** The size in the headers, if it is not that of the content. */
  size?: number;
  crc?: number;
}

export function zipBytes(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { mode = 0o100644, flags = 0, method = 8 } = entry;
    const name = Buffer.from(entry.name);
    const content = Buffer.from(entry.content ?? '');
    const data = method === 8 ? deflateRawSync(content) : content;
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(entry.crc ?? crc32(content), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(entry.size ?? content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name, data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, rest, name]),
    );
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
