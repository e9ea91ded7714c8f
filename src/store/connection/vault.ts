import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { parseKeyRing } from '../../core/access/key-ring.ts';
import { largeNote, parseLarge } from '../../core/large/large-value.ts';
import {
  CannotOpen,
  contentOf,
  envelopeText,
  isEnvelopeText,
  mayHoldEnvelope,
  parseSeal,
  replaceEnvelopes,
  replaceOthers,
} from '../../core/access/sealed.ts';

/**
 * Encrypts params, results, steps and checkpoints, so that a reader of the database, of a backup
 * or of the replication stream learns nothing from them. AES-256-GCM with a random nonce. Tenant
 * and use are authenticated with each value: a value that was moved into a job of another tenant,
 * or a secret that was moved into a job, does not open there. The job is not authenticated,
 * because statements copy values into hooks and redeliveries without a key.
 *
 * It belongs to `Db`, the border: values are plain in this process and sealed in the database.
 * What is derived from params, such as unique keys and sizes, is derived from the plain value.
 *
 * Without keys nothing is sealed. Sealed values are still recognized, so that no job runs with an
 * envelope as its params; this costs one search in the text of the params.
 */
export class Vault {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  /** The id of the key that encrypts; null when nothing is encrypted. */
  readonly keyId: string | null;

  constructor(ring: string | null = null) {
    const parsed = ring === null ? { ok: true as const, keys: [] } : parseKeyRing(ring);
    if (!parsed.ok) throw new TypeError(`the key ring is wrong: ${parsed.problem}`);
    this.#keys = new Map(
      parsed.keys.map(({ id, base64 }) => [id, createSecretKey(Buffer.from(base64, 'base64'))]),
    );
    this.keyId = parsed.keys[0]?.id ?? null;
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  /**
   * The value as it is stored. An envelope stays as it is: it comes from a place without its key.
   */
  seal(tenant: string, json: string, use: Use = 'value'): string {
    const key = this.keyId === null ? undefined : this.#keys.get(this.keyId);
    if (this.keyId === null || !key || isEnvelopeText(json)) return json;
    const nonce = randomBytes(12);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(tenant, use));
    const box = Buffer.concat([cipher.update(json, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return envelopeText({
      keyId: this.keyId,
      nonce: nonce.toString('base64url'),
      box: box.toString('base64url'),
    });
  }

  /** The JSON text before it was sealed. Throws `CannotOpen`. */
  open(tenant: string, json: string, use: Use = 'value'): string {
    if (!mayHoldEnvelope(json)) return json;
    const value = JSON.parse(json) as unknown;
    const content = contentOf(value);
    if (content !== null) return this.#unseal(tenant, content, use);
    const opened = replaceEnvelopes(value, (inner) => JSON.parse(this.#unseal(tenant, inner, use)));
    return opened === value ? json : JSON.stringify(opened);
  }

  /**
   * Like `open`, but a value that cannot be opened stays sealed: it may be stored again, not used.
   */
  openIfAble(tenant: string, json: string): string {
    try {
      return this.open(tenant, json);
    } catch (error) {
      if (error instanceof CannotOpen) return json;
      throw error;
    }
  }

  /** A stored value for display: a value that cannot be opened is replaced by the reason. */
  show(tenant: string, value: unknown): unknown {
    return replaceEnvelopes(value, (content) => {
      const large = parseLarge(content);
      if (large) return largeNote(large);
      try {
        return JSON.parse(this.#unseal(tenant, content, 'value')) as unknown;
      } catch (error) {
        if (error instanceof CannotOpen) return `[sealed: ${error.message}]`;
        throw error;
      }
    });
  }

  /** A stored text with every envelope of another key sealed again with the current one. */
  reseal(tenant: string, stored: string, use: Use = 'value'): string {
    if (this.keyId === null) return stored;
    return replaceOthers(stored, this.keyId, (old) =>
      this.seal(tenant, this.open(tenant, old, use), use),
    );
  }

  /** For a text that is not JSON, such as the signing secret of a webhook. */
  sealText(tenant: string, text: string, use: Use = 'secret'): string {
    return this.keyId === null ? text : this.seal(tenant, JSON.stringify(text), use);
  }

  openText(tenant: string, stored: string, use: Use = 'secret'): string {
    return isEnvelopeText(stored) ? (JSON.parse(this.open(tenant, stored, use)) as string) : stored;
  }

  /**
   * For a value outside of the database, which may be large: a line with key and nonce, then bytes. Without
   * keys, the text itself.
   */
  sealBytes(tenant: string, text: string, use: Use): Buffer {
    const key = this.keyId === null ? undefined : this.#keys.get(this.keyId);
    if (this.keyId === null || !key) return Buffer.from(text);
    const nonce = randomBytes(12);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(tenant, use));
    const head = Buffer.from(`${SEALED_BYTES}${this.keyId} ${nonce.toString('base64url')}\n`);
    return Buffer.concat([head, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws `CannotOpen`. */
  openBytes(tenant: string, stored: Buffer, use: Use): string {
    if (!stored.subarray(0, SEALED_BYTES.length).equals(Buffer.from(SEALED_BYTES))) {
      return stored.toString('utf8');
    }
    const end = stored.indexOf('\n');
    const [keyId = '', nonce = ''] = stored
      .subarray(SEALED_BYTES.length, end)
      .toString('latin1')
      .split(' ');
    const seal = { keyId, nonce: Buffer.from(nonce, 'base64url'), box: stored.subarray(end + 1) };
    return this.#decrypt(tenant, seal, use);
  }

  #unseal(tenant: string, content: string, use: Use): string {
    const { keyId, nonce, box } = parseSeal(content);
    const bytes = { nonce: Buffer.from(nonce, 'base64url'), box: Buffer.from(box, 'base64url') };
    return this.#decrypt(tenant, { keyId, ...bytes }, use);
  }

  #decrypt(
    tenant: string,
    { keyId, nonce, box: bytes }: { keyId: string; nonce: Buffer; box: Buffer },
    use: Use,
  ): string {
    const key = this.#keys.get(keyId);
    if (!key) {
      throw new CannotOpen(
        `it was encrypted with the key "${keyId}", which is not in LONGSHORE_ENCRYPTION_KEYS`,
      );
    }
    const decipher = createDecipheriv(CIPHER, key, nonce)
      .setAAD(boundTo(tenant, use))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(0, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      throw new CannotOpen(
        `the key "${keyId}" does not open it: it was changed, belongs to another tenant, or was ` +
          'encrypted with another key of that id',
      );
    }
  }
}

const CIPHER = 'aes-256-gcm';
const TAG_BYTES = 16;
/** How a sealed value outside of the database begins. No JSON text begins so. */
const SEALED_BYTES = 'longshore-sealed ';

/**
 * What a value is for. The signing secret of a webhook is never shown, values of jobs are: a user
 * who can write to the database without a key must not be able to show one as the other. `env`: a
 * secret of jobs, with its definition and its name, so that it cannot be moved to another. `large`: a
 * value outside of the database, with its job and its kind.
 */
export type Use = 'value' | 'secret' | `env ${string}` | `large ${string}`;

/** No tenant has a space in its name. */
function boundTo(tenant: string, use: Use): Buffer {
  return Buffer.from(`longshore tenant ${tenant} ${use}`);
}
