/** An encryption key and its id, which is stored with each value. */
export interface RingKey {
  id: string;
  /** 32 bytes in base64. */
  base64: string;
}

export type KeyRing = { ok: true; keys: RingKey[] } | { ok: false; problem: string };

const ID = /^[A-Za-z0-9_-]{1,32}$/;
/** 32 bytes in base64 or base64url. */
const KEY = /^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/;

/**
 * `id:key,id2:key2`. The first key encrypts, all keys decrypt: to rotate, put a new key in front.
 * Error messages name the id or the position, never a part of a key.
 */
export function parseKeyRing(text: string): KeyRing {
  const keys: RingKey[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [id = '', base64 = '', ...rest] = entry.trim().split(':');
    if (!ID.test(id) || rest.length > 0 || base64 === '') {
      return refused(`key ${index + 1} is not an id, a colon, and a key in base64`);
    }
    if (!KEY.test(base64)) return refused(`the key "${id}" is not 32 bytes in base64`);
    if (keys.some((key) => key.id === id)) return refused(`the id "${id}" occurs twice`);
    keys.push({ id, base64 });
  }
  return { ok: true, keys };
}

function refused(problem: string): KeyRing {
  return { ok: false, problem };
}
