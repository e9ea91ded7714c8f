/**
 * A key is one word: `lsk_<id>_<secret><checksum>`, all of it lowercase hex. The id is public and finds
 * the row; the secret has 256 random bits. The prefix lets scanners find a key that leaked into a
 * repository, and the checksum tells them, and us, a mistyped key from a real one without asking the
 * database.
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

/** Null when it cannot be a key at all. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const [, id = '', secret = '', sum = ''] = SHAPE.exec(text) ?? [];
  return sum !== '' && checksum(`${id}${secret}`) === sum ? { id, secret } : null;
}

export function isKeyId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}

/** CRC-32, as zip files have it: it guards against mistakes, not against people. */
function checksum(text: string): string {
  let sum = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    sum ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ((sum ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
}
