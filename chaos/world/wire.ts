/**
 * Cuts a stream of PostgreSQL's protocol into messages, without holding them up or keeping them: it
 * tells the type of each message when it has passed as a whole, and how its body began.
 */
const PREFIX_MAX = 256;

export class Wire {
  readonly #onMessage: (type: string, prefix: Buffer) => void;
  #header = Buffer.alloc(0);
  #type = '';
  #left = 0;
  #prefix: Buffer[] = [];
  #prefixLength = 0;
  /** The first message of a client has no type. */
  #typed: boolean;

  constructor(typed: boolean, onMessage: (type: string, prefix: Buffer) => void) {
    this.#typed = typed;
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      if (this.#left === 0) {
        rest = this.#readHeader(rest);
        if (this.#left === 0) continue;
      }
      const body = rest.subarray(0, this.#left);
      if (this.#prefixLength < PREFIX_MAX) {
        const kept = body.subarray(0, PREFIX_MAX - this.#prefixLength);
        this.#prefix.push(kept);
        this.#prefixLength += kept.length;
      }
      this.#left -= body.length;
      rest = rest.subarray(body.length);
      if (this.#left === 0) this.#tell();
    }
  }

  #readHeader(chunk: Buffer): Buffer {
    const size = this.#typed ? 5 : 4;
    const missing = size - this.#header.length;
    this.#header = Buffer.concat([this.#header, chunk.subarray(0, missing)]);
    if (this.#header.length === size) {
      this.#type = this.#typed ? String.fromCharCode(this.#header[0] ?? 0) : 'startup';
      this.#left = this.#header.readInt32BE(size - 4) - 4;
      this.#header = Buffer.alloc(0);
      this.#typed = true;
      if (this.#left === 0) this.#tell();
    }
    return chunk.subarray(missing);
  }

  #tell(): void {
    const prefix = Buffer.concat(this.#prefix);
    this.#prefix = [];
    this.#prefixLength = 0;
    this.#onMessage(this.#type, prefix);
  }
}

/** What a client is about to have done: the name of its prepared statement, or its plain text. */
export function statementIn(type: string, prefix: Buffer): string | null {
  if (type === 'Q') return textUntilNul(prefix, 0).toLowerCase();
  // Bind: the portal, then the statement.
  return type === 'B' ? textUntilNul(prefix, textUntilNul(prefix, 0).length + 1) : null;
}

/** The startup message: its version, then names and values. */
export function applicationIn(prefix: Buffer): string {
  const parts = prefix.subarray(4).toString('latin1').split('\0');
  const at = parts.indexOf('application_name');
  return at % 2 === 0 ? (parts[at + 1] ?? '') : '';
}

function textUntilNul(bytes: Buffer, from: number): string {
  const end = bytes.indexOf(0, from);
  return bytes.subarray(from, end === -1 ? undefined : end).toString('latin1');
}
