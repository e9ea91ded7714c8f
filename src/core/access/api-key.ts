/**
 * Format of a key: `lsk_<id>_<secret><checksum>`, lowercase hex. The id is public and finds the
 * row; the secret has 256 random bits. The prefix lets scanners find leaked keys, and the checksum
 * detects a mistyped key without a query.
 */
export interface ApiKeyParts {
  id: string;
  secret: string;
}

export const KEY_ID_BYTES = 8;
export const KEY_SECRET_BYTES = 32;

const SHAPE = /^lsk_([0-9a-f]{16})_([0-9a-f]{64})([0-9a-f]{8})$/;

export function formatApiKey({ id, secret }: ApiKeyParts): string {
  return `lsk_${id}_${secret}${checksum(`${id}${secret}`)}`;
}

/** Null when the text is not a key. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const [, id = '', secret = '', sum = ''] = SHAPE.exec(text) ?? [];
  return sum !== '' && checksum(`${id}${secret}`) === sum ? { id, secret } : null;
}

export function isKeyId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}

/** CRC-32: detects typing mistakes, not forgery. */
function checksum(text: string): string {
  let sum = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    sum ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ((sum ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
}
