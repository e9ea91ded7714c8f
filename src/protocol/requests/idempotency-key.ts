/**
 * The `Idempotency-Key` header: a structured-field string (`"order-17"`, RFC 8941) as in its draft,
 * or a bare word as most clients send. Ambiguous values are rejected: two headers joined by a
 * comma, and bytes beyond ASCII.
 */
export type HeaderKey = { ok: true; key: string } | { ok: false; detail: string };

const BARE = /^[!#-+\--~]+$/;
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

export function readIdempotencyHeader(header: string): HeaderKey {
  const value = header.trim();
  const quoted = QUOTED.exec(value)?.[1];
  if (quoted !== undefined) return ofLength(quoted.replaceAll(/\\(.)/g, '$1'));
  if (BARE.test(value)) return ofLength(value);
  return {
    ok: false,
    detail: 'the Idempotency-Key header must be one word or a quoted string, in ASCII',
  };
}

function ofLength(key: string): HeaderKey {
  if (key.length >= 1 && key.length <= 255) return { ok: true, key };
  return { ok: false, detail: 'the Idempotency-Key header must have 1 to 255 characters' };
}
