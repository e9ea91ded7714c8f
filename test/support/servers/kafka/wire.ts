/** The encoding of Kafka's protocol, as far as the tests need it. */
type Scalar = 'int8' | 'int16' | 'int32' | 'int64' | 'boolean' | 'string' | 'bytes';
type Field = Scalar | { each: Fields | 'int32' | 'string' };
export type Fields = { readonly [name: string]: Field };
// oxlint-disable-next-line typescript/no-explicit-any -- a message has the fields that its table says
export type Values = Record<string, any>;

const SIZES = { int8: 1, int16: 2, int32: 4, boolean: 1 } as const;

/** Reads a message. In its flexible form, lengths are varints, and tagged fields follow each struct. */
export class WireReader {
  readonly #bytes: Buffer;
  readonly #flexible: boolean;
  #at = 0;

  constructor(bytes: Buffer, flexible: boolean) {
    this.#bytes = bytes;
    this.#flexible = flexible;
  }

  struct(fields: Fields): Values {
    const entries = Object.entries(fields).map(([name, field]) => [name, this.#field(field)]);
    if (this.#flexible) this.skipTags();
    return Object.fromEntries(entries) as Values;
  }

  scalar(kind: Scalar): unknown {
    if (kind === 'string' || kind === 'bytes') {
      const length = this.#length(kind === 'string' ? 2 : 4);
      if (length < 0) return null;
      const bytes = this.#bytes.subarray(this.#at, (this.#at += length));
      return kind === 'string' ? bytes.toString() : bytes;
    }
    if (kind === 'int64') return this.#bytes.readBigInt64BE((this.#at += 8) - 8);
    const size = SIZES[kind];
    const value = this.#bytes.readIntBE((this.#at += size) - size, size);
    return kind === 'boolean' ? value !== 0 : value;
  }

  skipTags(): void {
    for (let left = this.#varint(); left > 0; left -= 1) {
      this.#varint();
      this.#at += this.#varint();
    }
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  #field(field: Field): unknown {
    if (typeof field === 'string') return this.scalar(field);
    const length = this.#length(4);
    const { each } = field;
    const one = () => (typeof each === 'string' ? this.scalar(each) : this.struct(each));
    return length < 0 ? null : Array.from({ length }, one);
  }

  #length(size: number): number {
    if (this.#flexible) return this.#varint() - 1;
    return this.#bytes.readIntBE((this.#at += size) - size, size);
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
}

export class WireWriter {
  readonly #flexible: boolean;
  readonly #parts: Buffer[] = [];

  constructor(flexible: boolean) {
    this.#flexible = flexible;
  }

  struct(fields: Fields, values: Values): this {
    for (const [name, field] of Object.entries(fields)) this.#field(field, name, values[name]);
    if (this.#flexible) this.noTags();
    return this;
  }

  scalar(kind: Scalar, value: unknown): this {
    if (kind === 'string' || kind === 'bytes') {
      const bytes = typeof value === 'string' ? Buffer.from(value) : (value as Buffer | null);
      this.#length(kind === 'string' ? 2 : 4, bytes?.length ?? -1);
      if (bytes) this.#parts.push(bytes);
    } else if (kind === 'int64') {
      const part = Buffer.alloc(8);
      part.writeBigInt64BE(BigInt(value as bigint));
      this.#parts.push(part);
    } else this.#int(SIZES[kind], Number(value));
    return this;
  }

  noTags(): this {
    return this.#varint(0);
  }

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** A field that the other version does not have gets its neutral value. */
  #field(field: Field, name: string, value: unknown): void {
    if (typeof field === 'string') {
      const neutral = name.endsWith('Epoch') ? -1 : field === 'string' ? null : 0;
      this.scalar(field, value ?? (field === 'bytes' ? null : neutral));
      return;
    }
    const items = value === undefined ? [] : (value as unknown[] | null);
    this.#length(4, items?.length ?? -1);
    const { each } = field;
    for (const item of items ?? []) {
      if (typeof each === 'string') this.scalar(each, item);
      else this.struct(each, item as Values);
    }
  }

  #length(size: number, length: number): void {
    if (this.#flexible) this.#varint(length + 1);
    else this.#int(size, length);
  }

  #int(size: number, value: number): void {
    const part = Buffer.alloc(size);
    part.writeIntBE(value, 0, size);
    this.#parts.push(part);
  }

  #varint(value: number): this {
    const bytes: number[] = [];
    let left = value;
    for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
    bytes.push(left);
    this.#parts.push(Buffer.from(bytes));
    return this;
  }
}
