import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A sign-in in progress: what the answer of the identity provider is checked against. */
export interface Transaction {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  /** Path of the dashboard to return to. */
  to: string;
  tenant: string | null;
}

export const TRANSACTION_MS = 10 * 60_000;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps transactions in a cookie of the browser, encrypted and with their end, so that every API
 * process can finish what another one began, and strangers cannot fill a table.
 */
export class Transactions {
  readonly #key: Buffer;

  /** All processes have the same client secret, and so the same key. */
  constructor(clientSecret: string) {
    const key = hkdfSync('sha256', clientSecret, '', 'longshore sign-in', 32);
    this.#key = Buffer.from(key);
  }

  seal(transaction: Transaction, nowMs: number): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const text = JSON.stringify({ ...transaction, endsAtMs: nowMs + TRANSACTION_MS });
    const box = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, box, cipher.getAuthTag()]).toString('base64url');
  }

  /** Null when it is not ours, or over. */
  open(sealed: string, nowMs: number): Transaction | null {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
    const cipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const box = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
      const text = Buffer.concat([cipher.update(box), cipher.final()]).toString('utf8');
      const { endsAtMs, ...transaction } = JSON.parse(text) as Transaction & { endsAtMs: number };
      return nowMs < endsAtMs ? transaction : null;
    } catch {
      return null;
    }
  }
}
