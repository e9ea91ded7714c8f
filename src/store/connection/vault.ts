import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { parseKeyRing } from '../../core/access/key-ring.ts';
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
 * Encrypts what jobs are given and what they leave behind, so that whoever reads the database, a backup
 * of it or its replication stream learns nothing from params, results, steps and checkpoints. AES-256-GCM
 * with a random nonce; the tenant and the use are authenticated with each value, so that one which was
 * moved into a job of another tenant, or a secret that was moved into a job, does not open there. Which
 * job it belongs to is not: statements copy values into hooks and redeliveries without a key.
 *
 * It sits with the database (`Db`), because that is the border: values are plain on this side of it and
 * sealed on the other. Everything that is derived from params, such as what makes a job unique, is
 * derived on this side, before. Sizes are judged there as well.
 *
 * Without keys nothing is sealed. What was sealed earlier is still known for what it is, so that no
 * job ever runs on an envelope. The price of that is one look through the text of the params.
 */
export class Vault {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  /** That of the key that encrypts; null when nothing is encrypted. */
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

  /** As it is to be stored. An envelope stays as it is: it comes from where there was no key for it. */
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

  /** The JSON text as it was before it was stored. Throws `CannotOpen`. */
  open(tenant: string, json: string, use: Use = 'value'): string {
    if (!mayHoldEnvelope(json)) return json;
    const value = JSON.parse(json) as unknown;
    const content = contentOf(value);
    if (content !== null) return this.#unseal(tenant, content, use);
    const opened = replaceEnvelopes(value, (inner) => JSON.parse(this.#unseal(tenant, inner, use)));
    return opened === value ? json : JSON.stringify(opened);
  }

  /** The same, and what cannot be opened stays as it is: to be kept, and never to be used. */
  openIfAble(tenant: string, json: string): string {
    try {
      return this.open(tenant, json);
    } catch (error) {
      if (error instanceof CannotOpen) return json;
      throw error;
    }
  }

  /** A value that was stored as it may be shown: in place of what cannot be opened stands the reason. */
  show(tenant: string, value: unknown): unknown {
    return replaceEnvelopes(value, (content) => {
      try {
        return JSON.parse(this.#unseal(tenant, content, 'value')) as unknown;
      } catch (error) {
        if (error instanceof CannotOpen) return `[sealed: ${error.message}]`;
        throw error;
      }
    });
  }

  /** A stored text with every envelope of another key sealed anew by the one that encrypts. */
  reseal(tenant: string, stored: string, use: Use = 'value'): string {
    if (this.keyId === null) return stored;
    return replaceOthers(stored, this.keyId, (old) =>
      this.seal(tenant, this.open(tenant, old, use), use),
    );
  }

  /** For a text that is no JSON, such as the secret that a webhook is signed with. */
  sealText(tenant: string, text: string): string {
    return this.keyId === null ? text : this.seal(tenant, JSON.stringify(text), 'secret');
  }

  openText(tenant: string, stored: string): string {
    return isEnvelopeText(stored)
      ? (JSON.parse(this.open(tenant, stored, 'secret')) as string)
      : stored;
  }

  #unseal(tenant: string, content: string, use: Use): string {
    const { keyId, nonce, box } = parseSeal(content);
    const key = this.#keys.get(keyId);
    if (!key) {
      throw new CannotOpen(
        `it was encrypted with the key "${keyId}", which is not in LONGSHORE_ENCRYPTION_KEYS`,
      );
    }
    const bytes = Buffer.from(box, 'base64url');
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'))
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

/**
 * What a value is for. A secret that signs webhooks is never shown, and values of jobs are: so whoever can
 * write into the database, without having a key, must not be able to have one shown as the other.
 */
type Use = 'value' | 'secret';

/** No tenant has a space in its name. */
function boundTo(tenant: string, use: Use): Buffer {
  return Buffer.from(`longshore tenant ${tenant} ${use}`);
}
